// What the black-box tests of Data Lake share: clients of both APIs of one server with hierarchical namespace.
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { blobServer, credential, once } from './blob_fixtures.mjs';

export async function lakeServer({ flags = [], ...options } = {}) {
  const { server, service: blobs } = await blobServer({ ...options, flags: ['--setting', 'hierarchicalNamespace=true', ...flags] });
  const lake = new DataLakeServiceClient(server.blobUrl, credential, once);
  let counter = 0;
  // A file system and the same as a container, with these files in it.
  const fresh = async (files = []) => {
    const fileSystem = lake.getFileSystemClient(`fs-${counter++}`);
    await fileSystem.create();
    const container = blobs.getContainerClient(fileSystem.name);
    for (const file of files) await container.getBlockBlobClient(file).upload(file, Buffer.byteLength(file));
    return { fileSystem, container };
  };
  return { server, blobs, lake, fresh };
}

export const all = async (items) => {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
};
export const pathsOf = async (fileSystem, options) => (await all(fileSystem.listPaths(options))).map(({ name }) => name);
