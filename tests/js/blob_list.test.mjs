// List Blobs through the SDK: flat and by hierarchy, every include, pages and markers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, namesOf, refused, request } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, service, freshContainer } = await blobServer();

async function filled(names, options = {}) {
  const container = await freshContainer();
  await Promise.all(names.map((name) => container.getBlockBlobClient(name).upload(name, Buffer.byteLength(name), options)));
  return container;
}
const byBytes = (names) => [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
const all = async (items) => {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
};
const pagesOf = async (pages) => (await all(pages)).map((page) => page.segment.blobItems.map((item) => item.name));

test('flat: names in the order of their bytes, with their properties', async () => {
  const names = ['b', 'a', 'a/b', 'a.b', 'A', 'z/y/x', 'ä', 'a b', '10', '9', '日本'];
  const container = await filled(names);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), byBytes(names));
  const [item] = await all(container.listBlobsFlat({ prefix: 'a/b' }));
  const shown = await container.getBlobClient('a/b').getProperties();
  assert.equal(item.properties.contentLength, 3);
  assert.equal(`"${item.properties.etag}"`, shown.etag);
  assert.deepEqual(item.properties.lastModified, shown.lastModified);
  assert.deepEqual(item.properties.createdOn, shown.createdOn);
  assert.deepEqual(Buffer.from(item.properties.contentMD5), Buffer.from(shown.contentMD5));
  assert.equal(item.properties.blobType, 'BlockBlob');
  assert.equal(item.properties.accessTier, 'Hot');
  assert.equal(item.properties.accessTierInferred, true);
  assert.equal(item.properties.leaseState, 'available');
  assert.equal(item.properties.contentType, 'application/octet-stream');
});

test('an empty container, and one that is missing', async () => {
  const container = await freshContainer();
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
  assert.deepEqual(await all(container.listBlobsByHierarchy('/')), []);
  await assert.rejects(service.getContainerClient('missing').listBlobsFlat().next(), refused(404, 'ContainerNotFound'));
});

test('prefix', async () => {
  const container = await filled(['a', 'ab', 'ab/c', 'abc', 'b', 'ä/x']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'ab' })), ['ab', 'ab/c', 'abc']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'ä' })), ['ä/x']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'abcd' })), []);
});

test('pages of every size give each name once', async () => {
  const names = Array.from({ length: 25 }, (_, i) => `n${String(i).padStart(3, '0')}`);
  const container = await filled(names);
  for (const maxPageSize of [1, 2, 7, 24, 25, 26, 5000]) {
    const pages = await pagesOf(container.listBlobsFlat().byPage({ maxPageSize }));
    assert.deepEqual(pages.flat(), names, `pages of ${maxPageSize}`);
    assert.ok(pages.every((page) => page.length <= maxPageSize));
    assert.equal(pages.length, Math.ceil(25 / maxPageSize));
  }
});

test('markers survive writes before, at and behind them', async () => {
  const container = await filled(['a', 'c', 'e', 'g']);
  const first = (await container.listBlobsFlat().byPage({ maxPageSize: 2 }).next()).value;
  assert.deepEqual(first.segment.blobItems.map((item) => item.name), ['a', 'c']);
  await container.getBlobClient('e').delete();
  for (const name of ['b', 'd', 'f', 'h']) await container.getBlockBlobClient(name).upload('x', 1);
  const rest = await pagesOf(container.listBlobsFlat().byPage({ continuationToken: first.continuationToken }));
  const names = rest.flat();
  // Each name that was there all the time, once and in order; what was added ahead of the marker may be there.
  assert.deepEqual(names.filter((name) => name === 'g'), ['g']);
  assert.ok(!names.includes('e') && !names.includes('a') && !names.includes('b'));
  assert.deepEqual(names, byBytes(names));
  assert.ok(names.includes('f') && names.includes('h'));
});

test('hierarchy: names fold at the delimiter', async () => {
  const container = await filled(['a', 'dir/1', 'dir/2', 'dir/sub/3', 'dir.x', 'dir0', 'other/4', '/root', 'dir/']);
  const level = async (prefix, delimiter = '/') => (await all(container.listBlobsByHierarchy(delimiter, { prefix })))
    .map((item) => `${item.kind === 'prefix' ? '>' : ''}${item.name}`).sort();
  assert.deepEqual(await level(''), ['a', 'dir.x', 'dir0', '>/', '>dir/', '>other/'].sort());
  assert.deepEqual(await level('dir/'), ['dir/', 'dir/1', 'dir/2', '>dir/sub/'].sort());
  assert.deepEqual(await level('dir'), ['dir.x', 'dir0', '>dir/'].sort());
  assert.deepEqual(await level('dir/sub/'), ['dir/sub/3']);
  assert.deepEqual(await level('none/'), []);
  assert.deepEqual(await level('', 'ir'), ['a', '/root', 'other/4', '>dir'].sort());
});

test('hierarchy: pages count prefixes and names alike', async () => {
  const names = [];
  for (let d = 0; d < 6; ++d) for (let i = 0; i < 5; ++i) names.push(`dir${d}/${i}`);
  const container = await filled([...names, 'dir2', 'dir3.x', 'z']);
  const expected = byBytes(['dir0/', 'dir1/', 'dir2', 'dir2/', 'dir3.x', 'dir3/', 'dir4/', 'dir5/', 'z']);
  for (const maxPageSize of [1, 2, 3, 9, 10]) {
    const found = [];
    for await (const page of container.listBlobsByHierarchy('/').byPage({ maxPageSize })) {
      const { blobPrefixes = [], blobItems } = page.segment;
      assert.ok(blobPrefixes.length + blobItems.length <= maxPageSize);
      found.push(...blobPrefixes.map((item) => item.name), ...blobItems.map((item) => item.name));
    }
    assert.deepEqual(byBytes(found), expected, `pages of ${maxPageSize}`);
  }
});

test('include: metadata and tags', async () => {
  const container = await filled(['x'], { metadata: { Colour: 'blue' }, tags: { size: '10' } });
  const [plain] = await all(container.listBlobsFlat());
  assert.equal(plain.metadata, undefined);
  assert.equal(plain.tags, undefined);
  const [full] = await all(container.listBlobsFlat({ includeMetadata: true, includeTags: true }));
  assert.deepEqual(full.metadata, { Colour: 'blue' });
  assert.deepEqual(full.tags, { size: '10' });
  assert.equal(full.properties.tagCount ?? full.tagCount ?? 1, 1);
});

test('include: snapshots stand before their blob, oldest first', async () => {
  const container = await filled(['a', 'b', 'c']);
  const blob = container.getBlockBlobClient('b');
  const instants = [];
  for (let i = 0; i < 3; ++i) instants.push((await blob.createSnapshot()).snapshot);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['a', 'b', 'c']);
  const items = await all(container.listBlobsFlat({ includeSnapshots: true }));
  assert.deepEqual(items.map((item) => [item.name, item.snapshot || '']),
    [['a', ''], ...instants.map((instant) => ['b', instant]), ['b', ''], ['c', '']]);
  for (const maxPageSize of [1, 2, 3]) {
    const found = [];
    for await (const page of container.listBlobsFlat({ includeSnapshots: true }).byPage({ maxPageSize })) {
      assert.ok(page.segment.blobItems.length <= maxPageSize);
      found.push(...page.segment.blobItems.map((item) => [item.name, item.snapshot || '']));
    }
    assert.deepEqual(found, items.map((item) => [item.name, item.snapshot || '']), `pages of ${maxPageSize}`);
  }
});

test('include: blobs that only have uncommitted blocks', async () => {
  const container = await filled(['a', 'c']);
  await container.getBlockBlobClient('b').stageBlock('AAAA', 'x', 1);
  await container.getBlockBlobClient('c').stageBlock('AAAA', 'x', 1);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['a', 'c']);
  const items = await all(container.listBlobsFlat({ includeUncommitedBlobs: true }));
  assert.deepEqual(items.map((item) => item.name), ['a', 'b', 'c']);
  assert.equal(items[1].properties.contentLength, 0);
  assert.ok(!items[1].properties.etag);
  assert.equal(items[2].properties.contentLength, 1);
});

test('names that XML cannot hold come encoded', async () => {
  const container = await filled(['plain', 'ctrl\u0001\u001f', '<&>"\'', 'tab\tnew\nline', '\ufffe']);
  const names = await namesOf(container.listBlobsFlat());
  assert.deepEqual(names, byBytes(['plain', 'ctrl\u0001\u001f', '<&>"\'', 'tab\tnew\nline', '\ufffe']));
  for (const name of names) assert.equal(await container.getBlobClient(name).exists(), true, JSON.stringify(name));
});

test('parameters out of range are refused', async () => {
  const container = await filled(['a']);
  const list = (query) => request(server, 'GET',
    `/${ACCOUNT}/${container.containerName}?restype=container&comp=list&${query}`);
  const rows = [['maxresults=0', 'OutOfRangeQueryParameterValue'], ['maxresults=-3', 'OutOfRangeQueryParameterValue'],
    ['maxresults=many', 'InvalidQueryParameterValue'], ['include=everything', 'InvalidQueryParameterValue']];
  for (const [query, code] of rows) {
    const got = await list(query);
    assert.equal(got.status, 400, query);
    assert.equal(got.code, code, query);
  }
  assert.equal((await list('maxresults=6000')).status, 200);
  assert.equal((await list('include=metadata,snapshots')).status, 200);
});

test('a listing in a storm of writes shows each name once and whole', async () => {
  const container = await freshContainer();
  const steady = Array.from({ length: 40 }, (_, i) => `steady-${String(i).padStart(2, '0')}`);
  await Promise.all(steady.map((name) => container.getBlockBlobClient(name).upload('x', 1)));
  let stop = false;
  const storm = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; !stop; ++i) {
      const blob = container.getBlockBlobClient(`moving-${writer}-${i % 5}`);
      // Metadata tells the length, so a torn entry would show.
      const length = 1 + (i % 7);
      await blob.upload('x'.repeat(length), length, { metadata: { length: String(length) } });
      if (i % 3 === 0) await blob.delete();
    }
  });
  for (let round = 0; round < 15; ++round) {
    const items = [];
    for await (const page of container.listBlobsFlat({ includeMetadata: true }).byPage({ maxPageSize: 13 })) {
      items.push(...page.segment.blobItems);
    }
    const names = items.map((item) => item.name);
    assert.deepEqual(names, byBytes(new Set(names)), 'sorted and without doubles');
    assert.deepEqual(names.filter((name) => name.startsWith('steady')), steady);
    for (const item of items.filter((one) => one.metadata?.length)) {
      assert.equal(item.properties.contentLength, Number(item.metadata.length), item.name);
    }
  }
  stop = true;
  await Promise.all(storm);
});
