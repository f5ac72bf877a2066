// Testcontainers' own module for Azurite, with the name of the image as the only difference.
import { AzuriteContainer } from '@testcontainers/azurite';
import { BlobServiceClient } from '@azure/storage-blob';

const container = await new AzuriteContainer('kyanite:latest').start();
const service = BlobServiceClient.fromConnectionString(container.getConnectionString());
await service.createContainer('box');
for await (const { name } of service.listContainers()) console.log(name);
await container.stop();
