// Snapshots, and what soft delete keeps, through the SDK.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { blobServer, contentOf, picture, refused, refusedUnchanged, request, textOf } from './blob_fixtures.mjs';

const { server, service, freshContainer } = await blobServer();
const container = await freshContainer();
const all = async (options) => {
  const found = [];
  for await (const item of container.listBlobsFlat(options)) found.push(item);
  return found;
};

test('a snapshot keeps what was there', async () => {
  const blob = container.getBlockBlobClient('kept');
  await blob.upload('first', 5, { metadata: { n: '1' }, blobHTTPHeaders: { blobContentType: 'text/one' }, tags: { t: '1' } });
  const { etag } = await blob.getProperties();
  const taken = await blob.createSnapshot();
  assert.equal(taken.etag, etag);
  assert.match(taken.snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
  const snapshot = blob.withSnapshot(taken.snapshot);
  const before = await picture(snapshot);
  await blob.upload('second', 6, { metadata: { n: '2' } });
  await blob.setMetadata({ n: '3' });
  assert.equal(await textOf(snapshot), 'first');
  assert.deepEqual((await snapshot.getProperties()).metadata, { n: '1' });
  assert.equal((await snapshot.getProperties()).contentType, 'text/one');
  assert.deepEqual(await picture(snapshot), before);
  assert.equal(await textOf(blob), 'second');
});

test('a snapshot may have metadata of its own', async () => {
  const blob = container.getBlockBlobClient('own-metadata');
  await blob.upload('x', 1, { metadata: { n: '1' } });
  const { snapshot } = await blob.createSnapshot({ metadata: { other: '2' } });
  assert.deepEqual((await blob.withSnapshot(snapshot).getProperties()).metadata, { other: '2' });
  assert.deepEqual((await blob.getProperties()).metadata, { n: '1' });
});

test('a snapshot is read only and never leased', async () => {
  const blob = container.getBlockBlobClient('read-only');
  await blob.upload('x', 1);
  await blob.getBlobLeaseClient().acquireLease(-1);
  const { snapshot } = await blob.createSnapshot();
  const path = `${new URL(blob.url).pathname}?snapshot=${encodeURIComponent(snapshot)}`;
  const shown = await blob.withSnapshot(snapshot).getProperties();
  assert.equal(shown.leaseState, undefined);
  const writes = [
    ['PUT', '', { 'x-ms-blob-type': 'BlockBlob' }], ['PUT', '&comp=metadata', {}], ['PUT', '&comp=properties', {}],
    ['PUT', '&comp=lease', { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '-1' }], ['PUT', '&comp=snapshot', {}],
  ];
  const before = await picture(blob);
  for (const [method, query, headers] of writes) {
    const got = await request(server, method, path + query, { headers });
    assert.equal(got.status, 400, `${method} ${query}: ${got.code}`);
  }
  assert.deepEqual(await picture(blob), before);
});

test('missing and malformed snapshots', async () => {
  const blob = container.getBlockBlobClient('no-snapshots');
  await blob.upload('x', 1);
  await assert.rejects(blob.withSnapshot('2020-01-01T00:00:00.0000000Z').getProperties(), refused(404, 'BlobNotFound'));
  await assert.rejects(blob.withSnapshot('yesterday').download(), refused(400, 'InvalidQueryParameterValue'));
});

test('deleting: the blob, its snapshots, or both', async () => {
  const blob = container.getBlockBlobClient('deleted');
  await blob.upload('x', 1);
  const { snapshot } = await blob.createSnapshot();
  await refusedUnchanged(blob, 409, 'SnapshotsPresent', () => blob.delete());
  await blob.delete({ deleteSnapshots: 'only' });
  assert.equal(await textOf(blob), 'x');
  await assert.rejects(blob.withSnapshot(snapshot).getProperties(), refused(404, 'BlobNotFound'));
  await blob.createSnapshot();
  const second = await blob.createSnapshot();
  await blob.withSnapshot(second.snapshot).delete();
  await assert.rejects(blob.withSnapshot(second.snapshot).delete(), refused(404, 'BlobNotFound'));
  await refusedUnchanged(blob, 409, 'SnapshotsPresent', () => blob.delete());
  await blob.delete({ deleteSnapshots: 'include' });
  assert.deepEqual(await all({ prefix: 'deleted', includeSnapshots: true }), []);
  await blob.upload('again', 5);
  assert.equal((await all({ prefix: 'deleted', includeSnapshots: true })).length, 1);
});

test('deleting a snapshot cannot also name snapshots', async () => {
  const blob = container.getBlockBlobClient('both-ways');
  await blob.upload('x', 1);
  const { snapshot } = await blob.createSnapshot();
  const path = `${new URL(blob.url).pathname}?snapshot=${encodeURIComponent(snapshot)}`;
  const got = await request(server, 'DELETE', path, { headers: { 'x-ms-delete-snapshots': 'include' } });
  assert.equal(got.status, 400);
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'x');
  const bad = await request(server, 'DELETE', new URL(blob.url).pathname, { headers: { 'x-ms-delete-snapshots': 'some' } });
  assert.equal(bad.code, 'InvalidHeaderValue');
});

test('snapshots of append and page blobs stay as they were', async () => {
  const append = container.getAppendBlobClient('append');
  await append.create();
  await append.appendBlock('one', 3);
  const first = await append.createSnapshot();
  await append.appendBlock('two', 3);
  assert.equal(await textOf(append.withSnapshot(first.snapshot)), 'one');
  assert.equal(await textOf(append), 'onetwo');

  const page = container.getPageBlobClient('page');
  await page.create(1024);
  await page.uploadPages(Buffer.alloc(512, 1), 0, 512);
  const second = await page.createSnapshot();
  await page.uploadPages(Buffer.alloc(1024, 2), 0, 1024);
  const former = Buffer.concat([Buffer.alloc(512, 1), Buffer.alloc(512)]);
  assert.ok((await contentOf(page.withSnapshot(second.snapshot))).equals(former));
  assert.ok((await contentOf(page)).equals(Buffer.alloc(1024, 2)));
});

test('a hundred snapshots of one blob, each of its own time', async () => {
  const blob = container.getBlockBlobClient('hundred');
  const taken = new Map();
  for (let i = 0; i < 100; ++i) {
    await blob.upload(String(i), String(i).length);
    taken.set((await blob.createSnapshot()).snapshot, String(i));
  }
  assert.equal(taken.size, 100);
  for (const [snapshot, text] of taken) assert.equal(await textOf(blob.withSnapshot(snapshot)), text);
});

test('soft delete keeps deleted blobs and snapshots, and undelete brings them back', async () => {
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 3 } });
  after(() => service.setProperties({ deleteRetentionPolicy: { enabled: false } }));
  const blob = container.getBlockBlobClient('soft');
  await blob.upload('precious', 8, { metadata: { a: 'b' } });
  const { snapshot } = await blob.createSnapshot();
  await blob.delete({ deleteSnapshots: 'include' });
  assert.equal(await picture(blob), 'absent');
  assert.deepEqual(await all({ prefix: 'soft' }), []);
  for (const each of [blob, blob.withSnapshot(snapshot)]) {
    const { pathname, search } = new URL(each.url);
    const { status, headers } = await request(server, 'HEAD', pathname + search);
    assert.equal(status, 404);
    assert.equal(headers['x-ms-is-soft-deleted'], 'true');
  }
  const deleted = await all({ prefix: 'soft', includeDeleted: true, includeSnapshots: true });
  assert.deepEqual(deleted.map((item) => item.deleted), [true, true]);
  const { properties } = deleted.at(-1);
  assert.ok(properties.deletedOn instanceof Date);
  assert.ok(properties.remainingRetentionDays <= 3);
  await assert.rejects(blob.delete(), refused(404, 'BlobNotFound'));
  await blob.undelete();
  assert.equal(await textOf(blob), 'precious');
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'precious');
  assert.deepEqual((await blob.getProperties()).metadata, { a: 'b' });
  await blob.undelete();
  await assert.rejects(container.getBlobClient('never').undelete(), refused(404, 'BlobNotFound'));
});

test('deleting only the snapshots leaves the blob alone, soft delete or not', async () => {
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 3 } });
  after(() => service.setProperties({ deleteRetentionPolicy: { enabled: false } }));
  const blob = container.getBlockBlobClient('only-snapshots');
  await blob.upload('x', 1);
  await blob.createSnapshot();
  const before = await picture(blob);
  await blob.delete({ deleteSnapshots: 'only' });
  assert.deepEqual(await picture(blob), before);
  const found = await all({ prefix: 'only-snapshots', includeSnapshots: true, includeDeleted: true });
  assert.deepEqual(found.map((item) => [Boolean(item.snapshot), item.deleted ?? false]), [[true, true], [false, false]]);
});

test('what is soft-deleted is deleted for good where the account allows it', async () => {
  const retain = (allowPermanentDelete) =>
    request(server, 'PUT', '/devstoreaccount1/?restype=service&comp=properties', { body: '<StorageServiceProperties>'
      + `<DeleteRetentionPolicy><Enabled>true</Enabled><Days>3</Days><AllowPermanentDelete>${allowPermanentDelete}`
      + '</AllowPermanentDelete></DeleteRetentionPolicy></StorageServiceProperties>' });
  after(() => service.setProperties({ deleteRetentionPolicy: { enabled: false } }));
  await retain(true);
  const blob = container.getBlockBlobClient('for-good');
  await blob.upload('x', 1);
  const { snapshot } = await blob.createSnapshot();
  const path = new URL(blob.url).pathname;
  const named = `${path}?snapshot=${encodeURIComponent(snapshot)}&deletetype=`;
  const remove = async (target) => {
    const got = await request(server, 'DELETE', target);
    return [got.status, got.code, got.headers['x-ms-delete-type-permanent']];
  };
  assert.deepEqual((await remove(`${named}permanent`)).slice(0, 1), [409]);
  assert.deepEqual((await remove(`${path}?deletetype=permanent`)).slice(0, 1), [409]);
  assert.deepEqual((await remove(`${named}gone`)).slice(0, 2), [400, 'InvalidQueryParameterValue']);
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'x');
  assert.deepEqual(await remove(named), [202, undefined, 'false']);
  await retain(false);
  assert.deepEqual((await remove(`${named}permanent`)).slice(0, 1), [409]);
  await retain(true);
  assert.deepEqual(await remove(`${named}permanent`), [202, undefined, 'true']);
  assert.deepEqual((await remove(`${named}permanent`)).slice(0, 2), [404, 'BlobNotFound']);
  const found = await all({ prefix: 'for-good', includeSnapshots: true, includeDeleted: true });
  assert.deepEqual(found.map((item) => item.snapshot), [undefined]);
  assert.equal(await textOf(blob), 'x');
});
