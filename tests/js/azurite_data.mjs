// What the test of the import puts into Azurite, and later expects of Kyanite: one function fills a server through the
// SDKs, the other reads everything that can be seen of it.
import { BlobServiceClient } from '@azure/storage-blob';
import { TableClient, TableServiceClient } from '@azure/data-tables';
import { QueueServiceClient } from '@azure/storage-queue';

export const bytes = (length, seed) => Buffer.from(Array.from({ length }, (_, i) => (i * 7 + seed * 13 + (i >> 8)) & 255));

const id = (n) => Buffer.from(`block-${n}`).toString('base64');

export async function fill(connection) {
  const snapshots = {};
  const blobs = BlobServiceClient.fromConnectionString(connection);
  await blobs.setProperties({ cors: [{ allowedOrigins: 'https://a.example', allowedMethods: 'GET,PUT', allowedHeaders: '*', exposedHeaders: 'x-ms-*', maxAgeInSeconds: 60 }] });
  const box = blobs.getContainerClient('box');
  await box.create({ metadata: { colour: 'red', Shape: 'round' }, access: 'blob' });
  await blobs.getContainerClient('empty').create();

  const small = box.getBlockBlobClient('small file.txt');
  await small.upload('hello', 5, {
    blobHTTPHeaders: { blobContentType: 'text/plain', blobContentEncoding: 'identity', blobContentLanguage: 'en',
      blobContentDisposition: 'inline', blobCacheControl: 'no-cache' },
    metadata: { one: '1', Two: 'zwei' }, tags: { kind: 'text', size: 'small' },
  });
  snapshots.small = (await small.createSnapshot()).snapshot;
  await small.upload('hello again', 11, { metadata: { three: '3' } });
  await box.getBlockBlobClient('nothing').upload('', 0);

  const blocks = box.getBlockBlobClient('made/of/blocks');
  for (const n of [1, 2, 3]) await blocks.stageBlock(id(n), bytes(300_000 + n, n), 300_000 + n);
  await blocks.commitBlockList([id(1), id(3), id(2)]);
  await blocks.stageBlock(id(7), bytes(100, 7), 100);
  const waiting = box.getBlockBlobClient('waiting');
  await waiting.stageBlock(id(8), bytes(5000, 8), 5000);
  await box.getBlockBlobClient('large').upload(bytes(5_000_000, 5), 5_000_000);
  await box.getBlockBlobClient('copy').beginCopyFromURL(blocks.url).then((copy) => copy.pollUntilDone());
  await box.getBlockBlobClient('cool').upload('x', 1, { tier: 'Cool' });

  const log = box.getAppendBlobClient('log');
  await log.create({ metadata: { append: 'yes' } });
  for (const n of [1, 2, 3]) await log.appendBlock(bytes(1000 * n, n), 1000 * n);

  const disk = box.getPageBlobClient('disk');
  await disk.create(1_048_576, { blobSequenceNumber: 7 });
  await disk.uploadPages(bytes(4096, 1), 0, 4096);
  await disk.uploadPages(bytes(1024, 2), 8192, 1024);
  await disk.uploadPages(bytes(512, 3), 512, 512);
  await disk.clearPages(1024, 512);
  snapshots.disk = (await disk.createSnapshot()).snapshot;
  await disk.uploadPages(bytes(512, 4), 0, 512);

  const leased = box.getBlockBlobClient('leased');
  await leased.upload('mine', 4);
  await leased.getBlobLeaseClient('aaaaaaaa-1111-2222-3333-bbbbbbbbbbbb').acquireLease(-1);
  await blobs.getContainerClient('policies').create();
  await blobs.getContainerClient('policies').setAccessPolicy(undefined, [
    { id: 'readers', accessPolicy: { startsOn: new Date('2024-01-01T00:00:00Z'), expiresOn: new Date('2044-01-01T00:00:00Z'), permissions: 'r' } },
  ]);

  const queues = QueueServiceClient.fromConnectionString(connection);
  const jobs = queues.getQueueClient('jobs');
  await jobs.create({ metadata: { who: 'me' } });
  for (const n of [1, 2, 3]) await jobs.sendMessage(`message ${n} <&> ü`);
  await jobs.sendMessage('x'.repeat(20_000), { messageTimeToLive: -1 });
  await jobs.receiveMessages({ visibilityTimeout: 1 });
  await queues.getQueueClient('idle').create();

  const tables = TableServiceClient.fromConnectionString(connection, { allowInsecureConnection: true });
  await tables.createTable('People');
  await tables.createTable('Nobody');
  const people = TableClient.fromConnectionString(connection, 'People', { allowInsecureConnection: true });
  for (const partition of ['a', 'b ö']) {
    for (const row of ['1', '2 x']) {
      await people.createEntity({
        partitionKey: partition, rowKey: row, text: `${partition}ü${row}`, whole: 42, truth: true, half: 1.5, one: { type: 'Double', value: 1 },
        big: { type: 'Int64', value: '9007199254740993' }, when: new Date('2021-02-03T04:05:06.789Z'),
        guid: { type: 'Guid', value: '12345678-1234-1234-1234-1234567890ab' }, raw: new Uint8Array([0, 1, 254, 255]), nothing: null,
      });
    }
  }
  return snapshots;
}

const collect = async (pages) => {
  const all = [];
  for await (const each of pages) all.push(each);
  return all;
};

const shown = (p) => ({
  type: p.blobType, length: p.contentLength, contentType: p.contentType, encoding: p.contentEncoding, language: p.contentLanguage,
  disposition: p.contentDisposition, cache: p.cacheControl, md5: p.contentMD5 && Buffer.from(p.contentMD5).toString('hex'),
  metadata: p.metadata, modified: p.lastModified.toISOString(), created: p.createdOn?.toISOString(), tier: p.accessTier,
  sequence: p.blobSequenceNumber, appended: p.blobCommittedBlockCount, sealed: p.isSealed,
  lease: [p.leaseState, p.leaseStatus, p.leaseDuration], tags: p.tagCount,
});

// As Azure tells them, where Azurite tells of each write by itself. `count` is one less than there are.
const joined = (ranges) => ranges.reduce((all, { offset, count }) => {
  const last = all.at(-1);
  if (last && last[1] === offset) last[1] += count + 1;
  else all.push([offset, offset + count + 1]);
  return all;
}, []);

async function readBlob(client, kind) {
  const properties = await client.getProperties();
  const whole = await client.downloadToBuffer(0, undefined, {});
  const seen = { ...shown(properties), bytes: whole.toString('base64') };
  if (kind === 'PageBlob') {
    const { pageRange } = await client.getPageBlobClient().getPageRanges(0, properties.contentLength);
    seen.pages = joined(pageRange);
  }
  return seen;
}

// Everything that can be seen, in a form to be compared.
export async function read(connection) {
  const seen = { containers: {}, queues: {}, tables: {} };
  const blobs = BlobServiceClient.fromConnectionString(connection);
  seen.cors = (await blobs.getProperties()).cors;
  for (const { name, metadata, properties } of await collect(blobs.listContainers({ includeMetadata: true }))) {
    const container = blobs.getContainerClient(name);
    const one = { metadata: metadata || {}, access: properties.publicAccess, modified: properties.lastModified.toISOString(), blobs: {} };
    one.policies = (await container.getAccessPolicy()).signedIdentifiers;
    for (const item of await collect(container.listBlobsFlat({ includeSnapshots: true, includeUncommitedBlobs: true, includeTags: true }))) {
      const key = item.snapshot ? `${item.name} at ${item.snapshot}` : item.name;
      let client = container.getBlobClient(item.name);
      if (item.snapshot) client = client.withSnapshot(item.snapshot);
      const blocks = item.properties.blobType === 'BlockBlob'
        ? await client.getBlockBlobClient().getBlockList('all') : undefined;
      const of = (list) => (list ?? []).map(({ name: block, size }) => [block, Number(size)]);
      const listed = { tags: item.tags, committed: of(blocks?.committedBlocks), uncommitted: of(blocks?.uncommittedBlocks) };
      const uncommitted = item.name === 'waiting';
      one.blobs[key] = uncommitted ? listed : { ...listed, ...await readBlob(client, item.properties.blobType) };
      if (item.snapshot) delete one.blobs[key].lease; // Snapshots have none, and only Azurite says so.
    }
    seen.containers[name] = one;
  }
  const queues = QueueServiceClient.fromConnectionString(connection);
  for (const { name, metadata } of await collect(queues.listQueues({ includeMetadata: true }))) {
    const { peekedMessageItems } = await queues.getQueueClient(name).peekMessages({ numberOfMessages: 32 });
    seen.queues[name] = { metadata, messages: peekedMessageItems.map((m) => [m.messageId, m.messageText, m.dequeueCount,
      m.insertedOn.toISOString(), m.expiresOn.toISOString()]).sort() };
  }
  const tables = TableServiceClient.fromConnectionString(connection, { allowInsecureConnection: true });
  for (const { name } of await collect(tables.listTables())) {
    const entities = await collect(TableClient.fromConnectionString(connection, name, { allowInsecureConnection: true }).listEntities({ disableTypeConversion: true }));
    // Azurite writes seven digits of a second, the service as many as it takes.
    seen.tables[name] = entities.map(({ etag, timestamp, ...entity }) => ({ ...entity, timestamp: timestamp.replace(/\.?0+Z$/, 'Z') }));
  }
  return seen;
}
