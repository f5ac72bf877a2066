// Versions of blobs, in an account that keeps them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, contentOf, namesOf, picture, refused, request, textOf } from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer({ flags: ['--setting', 'blobVersioning=true'] });
const container = await freshContainer();
const versionsOf = async (name) => {
  const found = [];
  for await (const item of container.listBlobsFlat({ prefix: name, includeVersions: true })) found.push(item);
  return found;
};
const write = async (blob, text, options) => (await blob.upload(text, text.length, options)).versionId;

test('every write leaves the former state as a version', async () => {
  const blob = container.getBlockBlobClient('written');
  const ids = [];
  for (let i = 0; i < 10; ++i) ids.push(await write(blob, `state ${i}`, { metadata: { n: String(i) } }));
  assert.equal(new Set(ids).size, 10);
  assert.deepEqual(ids, [...ids].sort());
  for (const [i, id] of ids.entries()) {
    assert.equal(await textOf(blob.withVersion(id)), `state ${i}`);
    const shown = await blob.withVersion(id).getProperties();
    assert.deepEqual(shown.metadata, { n: String(i) });
    assert.equal(shown.isCurrentVersion ?? false, i === 9);
  }
  assert.equal((await blob.getProperties()).versionId, ids[9]);
  const listed = await versionsOf('written');
  assert.deepEqual(listed.map((item) => item.versionId), ids);
  assert.deepEqual(listed.filter((item) => item.isCurrentVersion).map((item) => item.versionId), [ids[9]]);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'written' })), ['written']);
});

test('metadata makes a version, tags and tiers do not', async () => {
  const blob = container.getBlockBlobClient('metadata');
  const first = await write(blob, 'x', { metadata: { n: '1' } });
  await blob.setMetadata({ n: '2' });
  assert.deepEqual((await blob.withVersion(first).getProperties()).metadata, { n: '1' });
  const { versionId } = await blob.getProperties();
  assert.notEqual(versionId, first);
  await blob.setTags({ a: 'b' });
  await blob.setAccessTier('Cool');
  assert.equal((await blob.getProperties()).versionId, versionId);
  assert.equal((await versionsOf('metadata')).length, 2);
});

test('a deleted blob lives on in its versions', async () => {
  const blob = container.getBlockBlobClient('deleted');
  const first = await write(blob, 'one');
  const second = await write(blob, 'two');
  await blob.delete();
  assert.equal(await picture(blob), 'absent');
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'deleted' })), []);
  assert.deepEqual((await versionsOf('deleted')).map((item) => item.versionId), [first, second]);
  assert.equal(await textOf(blob.withVersion(second)), 'two');
  await write(blob, 'three');
  assert.equal(await textOf(blob), 'three');
  assert.equal((await versionsOf('deleted')).length, 3);
});

test('a version is deleted by its id', async () => {
  const blob = container.getBlockBlobClient('one-version');
  const first = await write(blob, 'one');
  await write(blob, 'two');
  await blob.withVersion(first).delete();
  await assert.rejects(blob.withVersion(first).getProperties(), refused(404, 'BlobNotFound'));
  assert.equal(await textOf(blob), 'two');
});

test('the current version is deleted by the name of the blob only', async () => {
  const blob = container.getBlockBlobClient('current');
  const former = await write(blob, 'one');
  const current = await write(blob, 'two');
  await assert.rejects(blob.withVersion(current).delete(), refused(403, 'OperationNotAllowedOnRootBlob'));
  assert.equal(await textOf(blob), 'two');
  await blob.withVersion(former).delete();
  await blob.delete();
  // No longer the current one, it can be deleted.
  await blob.withVersion(current).delete();
  assert.deepEqual(await versionsOf('current'), []);
});

test('a snapshot makes a version, and has none itself', async () => {
  const blob = container.getBlockBlobClient('snapped');
  const first = await write(blob, 'one');
  const { snapshot, versionId, etag } = await blob.createSnapshot();
  assert.notEqual(versionId, first);
  const shown = await blob.getProperties();
  assert.equal(shown.versionId, versionId);
  assert.equal(shown.etag, etag, 'the blob is as it was');
  assert.equal((await blob.withSnapshot(snapshot).getProperties()).versionId, undefined);
  assert.equal(await textOf(blob.withVersion(first)), 'one');
  assert.equal((await blob.withVersion(versionId).getProperties()).leaseState, undefined);
});

test('pages that are written later do not change a version', async () => {
  const blob = container.getPageBlobClient('pages');
  await blob.create(2048);
  const page = (fill) => Buffer.alloc(512, fill);
  await blob.uploadPages(page(1), 0, 512);
  await blob.uploadPages(page(2), 1024, 512);
  const { versionId } = await blob.getProperties();
  await blob.setMetadata({ a: 'b' });
  const { snapshot, versionId: second } = await blob.createSnapshot();
  const before = await contentOf(blob);
  await blob.uploadPages(page(3), 0, 512);
  await blob.clearPages(1024, 512);
  for (const former of [blob.withVersion(versionId), blob.withSnapshot(snapshot)]) {
    assert.deepEqual(await contentOf(former), before);
  }
  assert.deepEqual((await contentOf(blob.withVersion(second))).subarray(0, 512), page(3));
});

test('a version is brought back by copying it', async () => {
  const blob = container.getBlockBlobClient('promoted');
  const first = await write(blob, 'good', { metadata: { n: '1' } });
  await write(blob, 'bad');
  await (await blob.beginCopyFromURL(blob.withVersion(first).url, { intervalInMs: 10 })).pollUntilDone();
  assert.equal(await textOf(blob), 'good');
  assert.deepEqual((await blob.getProperties()).metadata, { n: '1' });
  assert.equal((await versionsOf('promoted')).length, 3);
});

test('versions are read only', async () => {
  const blob = container.getBlockBlobClient('read-only');
  const first = await write(blob, 'one');
  await write(blob, 'two');
  const old = blob.withVersion(first);
  await assert.rejects(old.setMetadata({ a: 'b' }), (error) => error.statusCode === 400);
  await assert.rejects(old.getBlobLeaseClient().acquireLease(-1), (error) => error.statusCode === 400);
  assert.equal(await textOf(old), 'one');
  assert.deepEqual((await old.getProperties()).metadata, {});
});

test('blocks and appends', async () => {
  const blocks = container.getBlockBlobClient('blocks');
  await blocks.stageBlock('AAAA', 'one', 3);
  const first = (await blocks.commitBlockList(['AAAA'])).versionId;
  await blocks.stageBlock('BBBB', 'two', 3);
  await blocks.commitBlockList(['AAAA', 'BBBB']);
  assert.equal(await textOf(blocks.withVersion(first)), 'one');
  assert.equal(await textOf(blocks), 'onetwo');
  const log = container.getAppendBlobClient('log');
  const created = (await log.create()).versionId;
  await log.appendBlock('one', 3);
  assert.equal((await log.getProperties()).versionId, created, 'appending makes no version');
});

test('missing and malformed versions', async () => {
  const blob = container.getBlockBlobClient('none');
  await write(blob, 'x');
  await assert.rejects(blob.withVersion('2020-01-01T00:00:00.0000000Z').getProperties(), refused(404, 'BlobNotFound'));
  await assert.rejects(blob.withVersion('yesterday').download(), refused(400, 'InvalidQueryParameterValue'));
});

test('a list shows blobs of which only versions are left, where it is asked for them', async () => {
  const box = await freshContainer();
  const [gone, kept] = ['gone', 'kept'].map((name) => box.getBlockBlobClient(name));
  const first = await write(gone, 'first');
  await write(gone, 'second!');
  await gone.delete();
  await write(kept, 'old');
  await write(kept, 'new');
  const list = async (include) => {
    const { text } = await request(server, 'GET',
      `${new URL(box.url).pathname}?restype=container&comp=list&include=${include}`);
    return [...text.matchAll(/<Blob>.*?<\/Blob>/g)].map(([entry]) => [/<Name>(.*)<\/Name>/.exec(entry)[1],
      entry.includes('<HasVersionsOnly>true</HasVersionsOnly>'), entry.includes('<VersionId>'),
      Number(/<Content-Length>(.*?)</.exec(entry)[1])]);
  };
  assert.deepEqual(await list('deletedwithversions'), [['gone', true, false, 7], ['kept', false, true, 3]]);
  assert.deepEqual(await list('versions,deletedwithversions'), [['gone', false, true, 5], ['gone', false, true, 7],
    ['gone', true, false, 7], ['kept', false, true, 3], ['kept', false, true, 3]]);
  assert.deepEqual(await list('metadata'), [['kept', false, true, 3]]);
  assert.equal(await textOf(gone.withVersion(first)), 'first');
});

test('deleting snapshots alone is permanent, deleting the blob keeps it as a version', async () => {
  const blob = container.getBlockBlobClient('permanence');
  await write(blob, 'x');
  await blob.createSnapshot();
  const path = new URL(blob.url).pathname;
  const remove = async (headers) => (await request(server, 'DELETE', path, { headers })).headers['x-ms-delete-type-permanent'];
  assert.equal(await remove({ 'x-ms-delete-snapshots': 'only' }), 'true');
  assert.equal(await remove({}), 'false');
});
