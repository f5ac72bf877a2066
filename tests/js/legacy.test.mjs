// The old SDK (azure-storage, REST version 2018-03-28 and its own signer), which many programs still use.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import azure from 'azure-storage';
import { Server } from './server.mjs';

const server = await Server.forThisFile();
const MIB = 1024 * 1024;

// The methods by promises: blobs.createContainer(...) resolves to the result.
const blobs = new Proxy(azure.createBlobService(server.connectionString).withFilter(new azure.LinearRetryPolicyFilter(0)), {
  get: (target, name) => promisify((...args) => {
    const done = args.pop();
    target[name](...args, (error, result) => done(error, result));
  }),
});

let counter = 0;
async function freshContainer(options = {}) {
  const name = `old-${counter++}`;
  await blobs.createContainer(name, options);
  return name;
}
const put = (container, name, text, options = {}) => blobs.createBlockBlobFromText(container, name, text, options);
const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.code, code, error.message);
  return true;
};

test('containers: create, find, list, metadata, delete', async () => {
  const name = await freshContainer({ metadata: { colour: 'blue' } });
  await assert.rejects(blobs.createContainer(name), refused(409, 'ContainerAlreadyExists'));
  assert.equal((await blobs.createContainerIfNotExists(name)).created, false);
  assert.deepEqual((await blobs.getContainerProperties(name)).metadata, { colour: 'blue' });
  await blobs.setContainerMetadata(name, { size: '1' });
  assert.deepEqual((await blobs.getContainerMetadata(name)).metadata, { size: '1' });
  const { entries } = await blobs.listContainersSegmentedWithPrefix(name, null);
  assert.deepEqual(entries.map((entry) => entry.name), [name]);
  await blobs.deleteContainer(name);
  assert.equal((await blobs.doesContainerExist(name)).exists, false);
  await assert.rejects(blobs.deleteContainer(name), refused(404, 'ContainerNotFound'));
});

test('access policies', async () => {
  const name = await freshContainer();
  const [Start, Expiry] = [new Date('2024-01-02T03:04:05Z'), new Date('2034-01-02T03:04:05Z')];
  const policies = { first: { Permissions: 'r', Start, Expiry } };
  await blobs.setContainerAcl(name, policies, { publicAccessLevel: 'blob' });
  const acl = await blobs.getContainerAcl(name);
  assert.equal(acl.publicAccessLevel, 'blob');
  assert.equal(acl.signedIdentifiers.first.Permissions, 'r');
});

test('block blobs: text, buffers with names of every kind, ranges', async () => {
  const name = await freshContainer();
  for (const blob of ['plain', 'with space', 'dir/grüße.txt', '100%', 'a+b&c']) {
    await put(name, blob, `of ${blob}`, { contentSettings: { contentType: 'text/plain' }, metadata: { a: 'b' } });
    assert.equal(await blobs.getBlobToText(name, blob), `of ${blob}`);
  }
  const shown = await blobs.getBlobProperties(name, 'plain');
  assert.equal(shown.contentSettings.contentType, 'text/plain');
  assert.equal(shown.contentLength, '8');
  assert.deepEqual(shown.metadata, { a: 'b' });
  assert.equal(await blobs.getBlobToText(name, 'plain', { rangeStart: 3, rangeEnd: 5 }), 'pla');
  await assert.rejects(blobs.getBlobToText(name, 'missing'), (error) => error.statusCode === 404);
  await blobs.deleteBlob(name, 'plain');
  assert.equal((await blobs.doesBlobExist(name, 'plain')).exists, false);
});

test('large streams go up in blocks and come down in ranges', async () => {
  const name = await freshContainer();
  const data = crypto.randomBytes(40 * MIB);
  await blobs.createBlockBlobFromStream(name, 'large', Readable.from([data]), data.length, { parallelOperationThreadCount: 3 });
  const parts = [];
  await blobs.getBlobToStream(name, 'large', new Writable({
    write(part, _, done) {
      parts.push(part);
      done();
    },
  }));
  assert.ok(Buffer.concat(parts).equals(data));
  const list = await blobs.listBlocks(name, 'large', 'committed');
  assert.ok(list.CommittedBlocks.length > 1);
});

test('listing: segments, prefixes, directories, snapshots', async () => {
  const name = await freshContainer();
  for (const blob of ['a', 'dir/1', 'dir/2', 'dir/sub/3', 'z']) await put(name, blob, blob);
  const found = [];
  let token = null;
  do {
    const segment = await blobs.listBlobsSegmented(name, token, { maxResults: 2 });
    assert.ok(segment.entries.length <= 2);
    found.push(...segment.entries.map((entry) => entry.name));
    token = segment.continuationToken;
  } while (token);
  assert.deepEqual(found, ['a', 'dir/1', 'dir/2', 'dir/sub/3', 'z']);
  const inside = await blobs.listBlobsSegmentedWithPrefix(name, 'dir/', null, { delimiter: '/' });
  assert.deepEqual(inside.entries.map((entry) => entry.name), ['dir/1', 'dir/2']);
  const directories = await blobs.listBlobDirectoriesSegmentedWithPrefix(name, '', null);
  assert.deepEqual(directories.entries.map((entry) => entry.name), ['dir/']);
  const snapshot = await blobs.createBlobSnapshot(name, 'a');
  const { entries } = await blobs.listBlobsSegmented(name, null, { include: 'snapshots' });
  assert.equal(entries[0].snapshot, snapshot);
  assert.equal(await blobs.getBlobToText(name, 'a', { snapshotId: snapshot }), 'a');
  await assert.rejects(blobs.deleteBlob(name, 'a'), refused(409, 'SnapshotsPresent'));
  await blobs.deleteBlob(name, 'a', { deleteSnapshots: azure.BlobUtilities.SnapshotDeleteOptions.BLOB_AND_SNAPSHOTS });
});

test('optimistic: If-Match and If-None-Match', async () => {
  const name = await freshContainer();
  const { etag } = await put(name, 'b', 'first');
  await put(name, 'b', 'second');
  const accessConditions = azure.AccessCondition.generateIfMatchCondition(etag);
  await assert.rejects(put(name, 'b', 'third', { accessConditions }), refused(412, 'ConditionNotMet'));
  await assert.rejects(put(name, 'b', 'third', { accessConditions: azure.AccessCondition.generateIfNotExistsCondition() }),
    refused(409, 'BlobAlreadyExists'));
  assert.equal(await blobs.getBlobToText(name, 'b'), 'second');
});

test('pessimistic: leases', async () => {
  const name = await freshContainer();
  await put(name, 'b', 'first');
  const { id } = await blobs.acquireLease(name, 'b', { leaseDuration: 15 });
  await assert.rejects(put(name, 'b', 'second'), refused(412, 'LeaseIdMissing'));
  await put(name, 'b', 'third', { leaseId: id });
  await blobs.renewLease(name, 'b', id);
  const changed = await blobs.changeLease(name, 'b', id, crypto.randomUUID());
  await assert.rejects(blobs.releaseLease(name, 'b', id), refused(409, 'LeaseIdMismatchWithLeaseOperation'));
  await blobs.releaseLease(name, 'b', changed.id);
  assert.equal(await blobs.getBlobToText(name, 'b'), 'third');
});

test('append and page blobs', async () => {
  const name = await freshContainer();
  await blobs.createAppendBlobFromText(name, 'log', 'one');
  await blobs.appendFromText(name, 'log', 'two');
  assert.equal(await blobs.getBlobToText(name, 'log'), 'onetwo');
  await blobs.createPageBlob(name, 'disk', 2048);
  await blobs.createPagesFromStream(name, 'disk', Readable.from([Buffer.alloc(512, 'x')]), 512, 1023);
  const ranges = await blobs.listPageRanges(name, 'disk', { rangeStart: 0, rangeEnd: 2047 });
  assert.deepEqual(ranges.map(({ start, end }) => [start, end]), [[512, 1023]]);
  await blobs.clearPageRange(name, 'disk', 512, 1023);
  await blobs.resizePageBlob(name, 'disk', 1024);
  assert.equal((await blobs.getBlobProperties(name, 'disk')).contentLength, '1024');
});

test('shared access signatures', async () => {
  const name = await freshContainer();
  await put(name, 'b', 'shared');
  const service = azure.createBlobService(server.connectionString);
  const token = service.generateSharedAccessSignature(name, 'b', {
    AccessPolicy: { Permissions: 'r', Expiry: azure.date.minutesFromNow(10) },
  });
  const visitor = azure.createBlobServiceWithSas(server.blobUrl, token).withFilter(new azure.LinearRetryPolicyFilter(0));
  const text = await promisify((done) => visitor.getBlobToText(name, 'b', (error, result) => done(error, result)))();
  assert.equal(text, 'shared');
  await assert.rejects(promisify((done) => visitor.deleteBlob(name, 'b', done))(),
    refused(403, 'AuthorizationPermissionMismatch'));
});

test('service properties', async () => {
  const properties = await blobs.getServiceProperties();
  properties.HourMetrics = { Version: '1.0', Enabled: true, IncludeAPIs: false, RetentionPolicy: { Enabled: true, Days: 4 } };
  await blobs.setServiceProperties(properties);
  assert.equal((await blobs.getServiceProperties()).HourMetrics.RetentionPolicy.Days, 4);
});
