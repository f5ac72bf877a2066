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

  await fillAwkwardBlobs(blobs);

  const queues = QueueServiceClient.fromConnectionString(connection);
  await queues.setProperties({ cors: [{ allowedOrigins: '*', allowedMethods: 'GET', allowedHeaders: '', exposedHeaders: '', maxAgeInSeconds: 5 }] });
  const jobs = queues.getQueueClient('jobs');
  await jobs.create({ metadata: { who: 'me' } });
  for (const n of [1, 2, 3]) await jobs.sendMessage(`message ${n} <&> ü`);
  await jobs.sendMessage('x'.repeat(20_000), { messageTimeToLive: -1 });
  await jobs.receiveMessages({ visibilityTimeout: 1 });
  await queues.getQueueClient('idle').create();
  await fillAwkwardQueue(queues.getQueueClient('awkward'));

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
  await fillAwkwardTable(connection, tables);
  return snapshots;
}

export const AWKWARD_NAMES = ['ünï/çødé 😀', 'a b%20c+d&e=f#g?h', 'quote"\'<>&amp;', 'ends.', 'UPPER/lower', 'a//b', 'tab\there', '%', '!', '~', 'x'.repeat(1000)];

async function fillAwkwardBlobs(blobs) {
  const box = blobs.getContainerClient('awkward');
  await box.create({ access: 'container' });
  for (const name of AWKWARD_NAMES) await box.getBlockBlobClient(name).upload(name, Buffer.byteLength(name), { metadata: { m: 'a=b; c,d' } });
  const root = blobs.getContainerClient('$root');
  await root.create();
  await root.getBlockBlobClient('top').upload('t', 1);

  const log = box.getAppendBlobClient('snapped log');
  await log.create();
  await log.appendBlock('one', 3);
  await log.createSnapshot({ metadata: { of: 'the snapshot' } });
  await log.appendBlock('two', 3);
  await box.getAppendBlobClient('empty log').create();

  await box.getPageBlobClient('empty disk').create(0);
  const grown = box.getPageBlobClient('grown disk');
  await grown.create(4096);
  await grown.uploadPages(bytes(4096, 9), 0, 4096);
  await grown.resize(1024);
  await grown.resize(8192);
  await grown.uploadPages(bytes(1024, 8), 7168, 1024);
  const cleared = box.getPageBlobClient('cleared disk');
  await cleared.create(2048);
  await cleared.uploadPages(bytes(2048, 7), 0, 2048);
  await cleared.clearPages(0, 2048);

  const whole = box.getBlockBlobClient('whole with blocks');
  await whole.upload('whole', 5);
  for (const n of [5, 6]) await whole.stageBlock(id(n), bytes(10 * n, n), 10 * n);
  const again = box.getBlockBlobClient('same block twice');
  await again.stageBlock(id(1), 'ab', 2);
  await again.commitBlockList([id(1), id(1)]);
  await box.getBlockBlobClient('no blocks').commitBlockList([]);
  await box.getBlockBlobClient('archived').upload('cold', 4, { tier: 'Archive' });

  const broken = box.getBlockBlobClient('lease broken');
  await broken.upload('b', 1);
  await broken.getBlobLeaseClient('cccccccc-1111-2222-3333-dddddddddddd').acquireLease(-1);
  await broken.getBlobLeaseClient().breakLease(0);
  const held = blobs.getContainerClient('held');
  await held.create();
  await held.getBlobLeaseClient('eeeeeeee-1111-2222-3333-ffffffffffff').acquireLease(-1);
}

async function fillAwkwardQueue(queue) {
  await queue.create();
  await queue.setAccessPolicy([{ id: 'adders', accessPolicy: { startsOn: new Date('2024-01-01T00:00:00Z'), expiresOn: new Date('2044-01-01T00:00:00Z'), permissions: 'a' } }]);
  await queue.sendMessage('taken by somebody');
  const { receivedMessageItems: [taken] } = await queue.receiveMessages({ visibilityTimeout: 3600 });
  await queue.updateMessage(taken.messageId, taken.popReceipt, 'taken and changed', 3600);
  await queue.sendMessage('for later', { visibilityTimeout: 3600 });
  await queue.sendMessage('y'.repeat(48 * 1024));
  await queue.sendMessage('line\nbreak \u{1f600} &amp;');
}

async function fillAwkwardTable(connection, tables) {
  await tables.createTable('Awkward0');
  const table = TableClient.fromConnectionString(connection, 'Awkward0', { allowInsecureConnection: true });
  await table.setAccessPolicy([{ id: 'readers', accessPolicy: { start: new Date('2024-01-01T00:00:00Z'), expiry: new Date('2044-01-01T00:00:00Z'), permission: 'r' } }]);
  const double = (value) => ({ type: 'Double', value });
  const rows = [
    { partitionKey: '', rowKey: '' },
    { partitionKey: "it's", rowKey: 'ü😀 +%&=' },
    { partitionKey: 'n', rowKey: 'numbers', least: -2147483648, most: 2147483647, least64: { type: 'Int64', value: '-9223372036854775808' },
      most64: { type: 'Int64', value: '9223372036854775807' }, nan: double('NaN'), up: double('Infinity'), down: double('-Infinity'), large: double('1e+300'),
      small: double('5e-324'), tenth: 0.1, whole: double('3') },
    { partitionKey: 'd', rowKey: 'dates', first: { type: 'DateTime', value: '1601-01-01T00:00:00Z' }, last: { type: 'DateTime', value: '9999-12-31T23:59:59.9999999Z' },
      ticks: { type: 'DateTime', value: '2024-02-29T12:34:56.1234567Z' } },
    { partitionKey: 's', rowKey: 'strings', empty: '', long: 'z'.repeat(30_000), lines: 'a\r\n\tb', looks: '2024-01-01T00:00:00Z', number: '42', _under_score: 'x', 'ü': 'name' },
    { partitionKey: 'b', rowKey: 'bytes', none: new Uint8Array(), all: new Uint8Array(Array.from({ length: 256 }, (_, i) => i)), no: false },
    Object.fromEntries([['partitionKey', 'w'], ['rowKey', 'wide'], ...Array.from({ length: 252 }, (_, i) => [`p${i}`, i])]),
  ];
  for (const row of rows) await table.createEntity(row);
  await table.upsertEntity({ partitionKey: 'm', rowKey: 'merged', a: 1, b: 'two' }, 'Replace');
  await table.upsertEntity({ partitionKey: 'm', rowKey: 'merged', a: { type: 'Int64', value: '3' } }, 'Merge');
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
  if (properties.accessTier === 'Archive') return shown(properties); // It cannot be read.
  const whole = await client.downloadToBuffer(0, undefined, {});
  const seen = { ...shown(properties), bytes: whole.toString('base64') };
  if (kind === 'PageBlob' && properties.contentLength > 0) {
    const { pageRange } = await client.getPageBlobClient().getPageRanges(0, properties.contentLength);
    seen.pages = joined(pageRange);
  }
  return seen;
}

// Everything that can be seen, in a form to be compared.
export async function read(connection) {
  const seen = { containers: {}, queues: {}, tables: {} };
  const blobs = BlobServiceClient.fromConnectionString(connection);
  seen.cors = [(await blobs.getProperties()).cors, (await QueueServiceClient.fromConnectionString(connection).getProperties()).cors];
  for (const { name, metadata, properties } of await collect(blobs.listContainers({ includeMetadata: true }))) {
    const container = blobs.getContainerClient(name);
    const one = { metadata: metadata || {}, access: properties.publicAccess, modified: properties.lastModified.toISOString(), blobs: {} };
    one.lease = [properties.leaseState, properties.leaseDuration];
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
    const queue = queues.getQueueClient(name);
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    const { approximateMessagesCount: count } = await queue.getProperties(); // Those that are hidden are counted.
    const policies = (await queue.getAccessPolicy()).signedIdentifiers;
    seen.queues[name] = { metadata, count, policies, messages: peekedMessageItems.map((m) => [m.messageId, m.messageText, m.dequeueCount,
      m.insertedOn.toISOString(), m.expiresOn.toISOString()]).sort() };
  }
  const tables = TableServiceClient.fromConnectionString(connection, { allowInsecureConnection: true });
  for (const { name } of await collect(tables.listTables())) {
    const table = TableClient.fromConnectionString(connection, name, { allowInsecureConnection: true });
    const entities = await collect(table.listEntities({ disableTypeConversion: true }));
    // Azurite writes seven digits of a second, the service as many as it takes.
    seen.tables[name] = [(await table.getAccessPolicy()), ...entities.map(({ etag, timestamp, ...entity }) => ({ ...entity, timestamp: timestamp.replace(/\.?0+Z$/, 'Z') }))];
  }
  return seen;
}
