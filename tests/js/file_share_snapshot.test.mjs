// Snapshots of shares: they keep showing what was there, whatever happens to the share.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShareLeaseClient } from '@azure/storage-file-share';
import { contentOf, entriesOf, fileServer, fileWith, MIB, refused, request, rootOf, textOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer({ hostStyle: true });
const fileOf = (share, name) => rootOf(share).getFileClient(name);

test('a snapshot shows files, directories and properties of its instant', async () => {
  const share = await freshShare({ metadata: { state: 'old' }, quota: 10 });
  await fileWith(rootOf(share), 'changed', 'before');
  await fileWith(rootOf(share), 'deleted', 'still here');
  await fileWith(rootOf(share), 'same', 'same');
  const { directoryClient } = await share.createDirectory('d');
  await fileWith(directoryClient, 'inside', 'inside');
  const { snapshot } = await share.createSnapshot();
  assert.match(snapshot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.0000000Z$/);

  await fileOf(share, 'changed').uploadRange('AFTER', 0, 5);
  await fileOf(share, 'deleted').delete();
  await directoryClient.getFileClient('inside').delete();
  await directoryClient.delete();
  await fileWith(rootOf(share), 'new', 'new');
  await share.setMetadata({ state: 'new' });
  await share.setQuota(20);

  const shown = share.withSnapshot(snapshot);
  assert.deepEqual(await entriesOf(rootOf(shown)), ['changed', 'd/', 'deleted', 'same']);
  assert.deepEqual(await entriesOf(rootOf(share)), ['changed', 'new', 'same']);
  assert.equal(await textOf(fileOf(shown, 'changed')), 'before');
  assert.equal(await textOf(fileOf(share, 'changed')), 'AFTERe');
  assert.equal(await textOf(fileOf(shown, 'deleted')), 'still here');
  assert.equal(await textOf(shown.getDirectoryClient('d').getFileClient('inside')), 'inside');
  assert.equal((await fileOf(shown, 'deleted').getProperties()).contentLength, 10);
  assert.equal(await shown.getDirectoryClient('d').exists(), true);
  await assert.rejects(fileOf(shown, 'new').download(), refused(404, 'ResourceNotFound'));
  const properties = await shown.getProperties();
  assert.deepEqual([properties.metadata, properties.quota], [{ state: 'old' }, 10]);
});

test('several snapshots of a file that grows, shrinks, moves and comes back', async () => {
  const share = await freshShare();
  const file = await fileWith(rootOf(share), 'file', 'one');
  const snapshots = [];
  const take = async () => snapshots.push((await share.createSnapshot()).snapshot);
  await take();
  await file.resize(2 * MIB);
  await file.uploadRange('two', MIB, 3);
  await take();
  await file.clearRange(0, MIB);
  await take();
  await file.rename('moved');
  await take();
  await fileOf(share, 'moved').delete();
  await take();
  await fileWith(rootOf(share), 'file', 'again');
  await take();
  assert.equal(new Set(snapshots).size, 6);
  assert.deepEqual([...snapshots].sort(), snapshots);
  const at = (i, name) => fileOf(share.withSnapshot(snapshots[i]), name);
  assert.equal(await textOf(at(0, 'file')), 'one');
  const grown = await contentOf(at(1, 'file'));
  assert.deepEqual([grown.length, grown.subarray(0, 3).toString(), grown.subarray(MIB, MIB + 3).toString()], [2 * MIB, 'one', 'two']);
  const cleared = await contentOf(at(2, 'file'));
  assert.deepEqual([cleared[0], cleared.subarray(MIB, MIB + 3).toString()], [0, 'two']);
  assert.equal((await contentOf(at(3, 'moved'))).equals(cleared), true);
  await assert.rejects(at(3, 'file').getProperties(), refused(404, 'ResourceNotFound'));
  assert.deepEqual(await entriesOf(rootOf(share.withSnapshot(snapshots[4]))), []);
  assert.equal(await textOf(at(5, 'file')), 'again');

  // Deleting one leaves the others as they are.
  await share.withSnapshot(snapshots[1]).delete();
  await assert.rejects(at(1, 'file').getProperties(), refused(404, 'ShareSnapshotNotFound'));
  assert.equal(await textOf(at(0, 'file')), 'one');
  assert.equal((await contentOf(at(2, 'file'))).equals(cleared), true);
});

test('nothing can be changed in a snapshot', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'file', 'x');
  const { snapshot } = await share.createSnapshot();
  const query = `sharesnapshot=${encodeURIComponent(snapshot)}`;
  const attempts = [
    ['PUT', `/${share.name}/new?${query}`, { 'x-ms-type': 'file', 'x-ms-content-length': '1' }],
    ['PUT', `/${share.name}/dir?restype=directory&${query}`, {}],
    ['PUT', `/${share.name}/file?comp=range&${query}`, { 'x-ms-write': 'clear', 'x-ms-range': 'bytes=0-0' }],
    ['PUT', `/${share.name}/file?comp=metadata&${query}`, { 'x-ms-meta-a': '1' }],
    ['DELETE', `/${share.name}/file?${query}`, {}],
  ];
  for (const [method, path, headers] of attempts) {
    const answer = await request(server, method, path, { headers });
    assert.equal(answer.status, 400, `${method} ${path}: ${answer.text}`);
  }
  assert.equal(await textOf(fileOf(share.withSnapshot(snapshot), 'file')), 'x');
});

test('metadata of its own', async () => {
  const share = await freshShare({ metadata: { from: 'share' } });
  const own = await share.createSnapshot({ metadata: { from: 'snapshot' } });
  const inherited = await share.createSnapshot();
  assert.deepEqual((await share.withSnapshot(own.snapshot).getProperties()).metadata, { from: 'snapshot' });
  assert.deepEqual((await share.withSnapshot(inherited.snapshot).getProperties()).metadata, { from: 'share' });
  assert.deepEqual((await share.getProperties()).metadata, { from: 'share' });
  await assert.rejects(service.getShareClient('none').createSnapshot(), refused(404, 'ShareNotFound'));
  await assert.rejects(share.withSnapshot('2001-01-01T00:00:00.0000000Z').getProperties(), refused(404, 'ShareSnapshotNotFound'));
});

test('lists show snapshots before their share, in pages', async () => {
  const share = await freshShare({ metadata: { a: '1' } });
  const taken = [];
  for (let i = 0; i < 4; ++i) taken.push((await share.createSnapshot()).snapshot);
  const all = [];
  for await (const item of service.listShares({ prefix: share.name, includeSnapshots: true })) all.push(item.snapshot);
  assert.deepEqual(all, [...taken, undefined]);
  const pages = [];
  const asked = { prefix: share.name, includeSnapshots: true, includeMetadata: true };
  for await (const page of service.listShares(asked).byPage({ maxPageSize: 2 })) {
    pages.push(page.shareItems.map((item) => item.snapshot));
    for (const item of page.shareItems) assert.deepEqual(item.metadata, { a: '1' });
  }
  assert.deepEqual(pages, [taken.slice(0, 2), taken.slice(2), [undefined]]);
  const plain = [];
  for await (const item of service.listShares({ prefix: share.name })) plain.push(item.snapshot);
  assert.deepEqual(plain, [undefined]);
});

test('a share with snapshots is deleted only together with them', async () => {
  const share = await freshShare();
  const { snapshot } = await share.createSnapshot();
  await assert.rejects(share.delete(), refused(409, 'ShareHasSnapshots'));
  await new ShareLeaseClient(share.withSnapshot(snapshot)).acquireLease(-1);
  await assert.rejects(share.delete({ deleteSnapshots: 'include' }), refused(409, 'DeleteShareWhenSnapshotLeased'));
  await share.delete({ deleteSnapshots: 'include-leased' });
  assert.equal(await share.exists(), false);
  await share.create();
  await assert.rejects(share.withSnapshot(snapshot).getProperties(), refused(404, 'ShareSnapshotNotFound'));
  const answer = await request(server, 'DELETE', `/${share.name}?restype=share`, { headers: { 'x-ms-delete-snapshots': 'maybe' } });
  assert.deepEqual([answer.status, answer.code], [400, 'InvalidHeaderValue']);
});

test('at most 200 snapshots', { skip: process.env.KYANITE_QUICK }, async () => {
  const share = await freshShare();
  for (let i = 0; i < 200; ++i) await share.createSnapshot();
  await assert.rejects(share.createSnapshot(), refused(409, 'ShareSnapshotCountExceeded'));
});
