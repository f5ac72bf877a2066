// Tags and finding by them, and access tiers, through the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, picture, refused, request, textOf } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, service, freshContainer } = await blobServer();
const container = await freshContainer();
const tagged = async (box, name, tags) => {
  const blob = box.getBlockBlobClient(name);
  await blob.upload('x', 1, { tags });
  return blob;
};
const found = async (items) => {
  const names = [];
  for await (const item of items) names.push(`${item.containerName}/${item.name}`);
  return names;
};

test('tags are set, replaced and removed without touching the blob', async () => {
  const blob = await tagged(container, 'set', { first: '1' });
  const { etag, lastModified } = await blob.getProperties();
  await blob.setTags({ second: '2', 'third key': 'a b/c:d=e_f+g-h.i' });
  assert.deepEqual((await blob.getTags()).tags, { second: '2', 'third key': 'a b/c:d=e_f+g-h.i' });
  const shown = await blob.getProperties();
  assert.equal(shown.tagCount, 2);
  assert.equal(shown.etag, etag);
  assert.deepEqual(shown.lastModified, lastModified);
  await blob.setTags({});
  assert.deepEqual((await blob.getTags()).tags, {});
  await assert.rejects(container.getBlobClient('missing').setTags({ a: 'b' }), refused(404, 'BlobNotFound'));
});

test('a blob that is written again has the tags of that write', async () => {
  const blob = await tagged(container, 'rewritten', { a: '1' });
  await blob.upload('y', 1);
  assert.deepEqual((await blob.getTags()).tags, {});
  await blob.setTags({ b: '2' });
  await blob.setMetadata({ m: '1' });
  assert.deepEqual((await blob.getTags()).tags, { b: '2' });
});

test('limits: ten tags, keys of 128, values of 256 characters', async () => {
  const blob = await tagged(container, 'limits', {});
  const many = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, String(i)]));
  await blob.setTags(many(10));
  await blob.setTags({ ['k'.repeat(128)]: 'v'.repeat(256), empty: '' });
  for (const tags of [many(11), { ['k'.repeat(129)]: 'v' }, { k: 'v'.repeat(257) }, { '': 'v' }, { 'k!': 'v' }, { k: 'ä' }]) {
    const before = await picture(blob);
    await assert.rejects(blob.setTags(tags), (error) => error.statusCode === 400, JSON.stringify(tags));
    assert.deepEqual(await picture(blob), before);
  }
});

test('finding in one container and in all', async () => {
  const one = await freshContainer();
  const two = await freshContainer();
  await tagged(one, 'a', { project: 'kyanite', stage: '1' });
  await tagged(one, 'b', { project: 'kyanite', stage: '2' });
  await tagged(one, 'c', { project: 'other', stage: '2' });
  await tagged(two, 'd', { project: 'kyanite', stage: '3' });
  await tagged(two, 'e', { stage: '2' });
  const at = (box, ...names) => names.map((name) => `${box.containerName}/${name}`);
  const rows = [
    [`"project" = 'kyanite'`, [...at(one, 'a', 'b'), ...at(two, 'd')]],
    [`project = 'kyanite' AND "stage" = '2'`, at(one, 'b')],
    [`"stage" >= '2'`, [...at(one, 'b', 'c'), ...at(two, 'd', 'e')]],
    [`"stage" > '1' AND "stage" < '3'`, [...at(one, 'b', 'c'), ...at(two, 'e')]],
    [`@container = '${two.containerName}' AND "project" = 'kyanite'`, at(two, 'd')],
    [`"project" = 'nothing'`, []],
  ];
  for (const [expression, expected] of rows) {
    assert.deepEqual((await found(service.findBlobsByTags(expression))).sort(), expected.sort(), expression);
  }
  assert.deepEqual(await found(one.findBlobsByTags(`"stage" = '2'`)), at(one, 'b', 'c'));
  const [item] = await (async () => {
    const items = [];
    for await (const each of service.findBlobsByTags(`"project" = 'other'`)) items.push(each);
    return items;
  })();
  assert.deepEqual(item.tags, { project: 'other' });
});

test('finding follows every change at once', async () => {
  const box = await freshContainer();
  const blob = await tagged(box, 'moving', { state: 'new' });
  const has = async (state) => (await found(box.findBlobsByTags(`"state" = '${state}'`))).length;
  assert.equal(await has('new'), 1);
  await blob.setTags({ state: 'old' });
  assert.equal(await has('new'), 0);
  assert.equal(await has('old'), 1);
  await blob.upload('y', 1);
  assert.equal(await has('old'), 0);
  await blob.upload('y', 1, { tags: { state: 'again' } });
  assert.equal(await has('again'), 1);
  await blob.delete();
  assert.equal(await has('again'), 0);
  await blob.upload('y', 1, { tags: { state: 'last' } });
  await box.delete();
  assert.deepEqual(await found(service.findBlobsByTags(`"state" = 'last'`)), []);
});

test('finding comes in pages', async () => {
  const box = await freshContainer();
  await Promise.all(Array.from({ length: 25 }, (_, i) => tagged(box, `n${String(i).padStart(2, '0')}`, { paged: 'yes' })));
  for (const maxPageSize of [1, 7, 25]) {
    const names = [];
    for await (const page of service.findBlobsByTags(`"paged" = 'yes'`).byPage({ maxPageSize })) {
      assert.ok(page.blobs.length <= maxPageSize);
      names.push(...page.blobs.map((blob) => blob.name));
    }
    assert.equal(names.length, 25);
    assert.equal(new Set(names).size, 25);
  }
});

test('expressions that are none are refused', async () => {
  for (const where of ['', 'colour', `"colour" = blue`, `"colour" <> 'blue'`, `"a" = '1' OR "b" = '2'`]) {
    const got = await request(server, 'GET', `/${ACCOUNT}/?comp=blobs&where=${encodeURIComponent(where)}`);
    assert.equal(got.status, 400, where);
  }
});

test('tiers: inferred, set, listed', async () => {
  const blob = await tagged(container, 'tiers', {});
  assert.equal((await blob.getProperties()).accessTier, 'Hot');
  assert.equal((await blob.getProperties()).accessTierInferred, true);
  const { etag } = await blob.getProperties();
  for (const tier of ['Cool', 'Cold', 'Hot']) {
    await blob.setAccessTier(tier);
    const shown = await blob.getProperties();
    assert.equal(shown.accessTier, tier);
    assert.ok(!shown.accessTierInferred);
    assert.ok(shown.accessTierChangedOn instanceof Date);
    assert.equal(shown.etag, etag);
  }
  const direct = container.getBlockBlobClient('created-cool');
  await direct.upload('x', 1, { tier: 'Cool' });
  assert.equal((await direct.getProperties()).accessTier, 'Cool');
});

test('tiers: what is archived cannot be read until it is brought back', async () => {
  const blob = await tagged(container, 'archived', {});
  await blob.setAccessTier('Archive');
  assert.equal((await blob.getProperties()).accessTier, 'Archive');
  await assert.rejects(blob.download(), refused(409, 'BlobArchived'));
  await assert.rejects(blob.setMetadata({ a: 'b' }), refused(409, 'BlobArchived'));
  await blob.upload('new', 3);
  assert.equal(await textOf(blob), 'new');
});

test('tiers are for block blobs', async () => {
  const append = container.getAppendBlobClient('append-tier');
  await append.create();
  await assert.rejects(append.setAccessTier('Cool'), (error) => error.statusCode >= 400 && error.statusCode < 500);
});

test('tiers: an archived blob is brought back in the time the account says', async () => {
  const quick = await blobServer({ flags: ['--setting', 'rehydrationSeconds=0'] });
  const slow = await blobServer({ flags: ['--setting', 'rehydrationSeconds=3600'] });
  for (const [each, tier, status] of [[quick, 'Hot', undefined], [slow, 'Archive', 'rehydrate-pending-to-hot']]) {
    const blob = await tagged(await each.freshContainer(), 'b', {});
    await blob.setAccessTier('Archive');
    const reply = await blob.setAccessTier('Hot', { rehydratePriority: 'High' });
    assert.equal(reply._response.status, 202);
    const shown = await blob.getProperties();
    assert.equal(shown.accessTier, tier);
    assert.equal(shown.archiveStatus, status);
    const changed = blob.setMetadata({ a: 'b' });
    if (status) await assert.rejects(changed, refused(409, 'BlobArchived'));
    else await changed;
    await blob.upload('new', 3);
    assert.equal(await textOf(blob), 'new');
  }
});
