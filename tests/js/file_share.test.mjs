// Shares through the SDK: their life, names, properties, metadata, policies, and how they are listed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileServer, fileWith, MIB, namesOf, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();

test('a share is created once, found, and deleted once', async () => {
  const share = service.getShareClient('life');
  assert.equal(await share.exists(), false);
  const created = await share.create({ metadata: { colour: 'blue' } });
  assert.match(created.etag, /^"0x[0-9A-F]+"$/);
  const shown = await share.getProperties();
  assert.equal(shown.etag, created.etag);
  assert.deepEqual(shown.lastModified, created.lastModified);
  assert.deepEqual(shown.metadata, { colour: 'blue' });
  assert.equal(shown.quota, 5120);
  assert.equal(shown.accessTier, 'TransactionOptimized');
  assert.equal(shown.leaseState, 'available');
  await assert.rejects(share.create({ metadata: { other: 'x' } }), refused(409, 'ShareAlreadyExists'));
  assert.deepEqual((await share.getProperties()).metadata, { colour: 'blue' });
  assert.equal((await share.createIfNotExists()).succeeded, false);
  await share.delete();
  await assert.rejects(share.delete(), refused(404, 'ShareNotFound'));
  assert.equal((await share.deleteIfExists()).succeeded, false);
  await assert.rejects(share.getProperties(), refused(404, 'ShareNotFound'));
});

test('a name can be used again at once, and the new share is empty', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'old', 'old');
  await share.delete();
  await assert.rejects(rootOf(share).getFileClient('old').getProperties(), refused(404, 'ShareNotFound'));
  await assert.rejects(rootOf(share).getFileClient('new').create(1), refused(404, 'ShareNotFound'));
  await share.create();
  assert.deepEqual(await namesOf(rootOf(share).listFilesAndDirectories()), []);
  await assert.rejects(rootOf(share).getFileClient('old').getProperties(), refused(404, 'ResourceNotFound'));
});

test('names: what is allowed and what is not', async () => {
  for (const name of ['abc', 'a1b', '0-9', 'a'.repeat(63), 'a-b-c-d']) {
    await service.getShareClient(name).create();
    await service.getShareClient(name).delete();
  }
  const bad = {
    InvalidResourceName: ['Abc', 'a_b', 'a--b', '-abc', 'abc-', 'a.b', 'ümlaut'],
    OutOfRangeInput: ['ab', 'a'.repeat(64)],
  };
  for (const [code, names] of Object.entries(bad)) {
    for (const name of names) {
      await assert.rejects(service.getShareClient(name).create(), refused(400, code), name);
    }
  }
});

test('quota and tier are kept, checked, and change the ETag', async () => {
  const share = await freshShare({ quota: 7, accessTier: 'Hot' });
  const before = await share.getProperties();
  assert.deepEqual([before.quota, before.accessTier], [7, 'Hot']);
  const set = await share.setQuota(102400);
  assert.notEqual(set.etag, before.etag);
  await share.setProperties({ accessTier: 'Cool' });
  const after = await share.getProperties();
  assert.deepEqual([after.quota, after.accessTier], [102400, 'Cool']);
  assert.ok(after.accessTierChangeTime);
  for (const quota of ['0', '-1', '102401', 'x']) {
    const answer = await request(server, 'PUT', `/${share.name}?restype=share&comp=properties`, {
      headers: { 'x-ms-share-quota': quota },
    });
    assert.deepEqual([answer.status, answer.code], [400, 'InvalidHeaderValue'], quota);
    assert.match(answer.text, /<HeaderName>x-ms-share-quota<\/HeaderName>/);
  }
  const tier = await request(server, 'PUT', `/${share.name}?restype=share&comp=properties`, {
    headers: { 'x-ms-access-tier': 'Lukewarm' },
  });
  assert.deepEqual([tier.status, tier.code], [400, 'InvalidHeaderValue']);
  assert.equal((await share.getProperties()).etag, after.etag);
  await assert.rejects(service.getShareClient('none').setQuota(1), refused(404, 'ShareNotFound'));
});

test('an NFS share says what it is', async () => {
  const share = await freshShare({ protocols: { nfsEnabled: true }, rootSquash: 'RootSquash', quota: 100 });
  const shown = await share.getProperties();
  assert.equal(shown.protocols.nfsEnabled, true);
  assert.equal(shown.rootSquash, 'RootSquash');
  assert.equal(shown.accessTier, 'Premium');
  await share.setProperties({ rootSquash: 'AllSquash' });
  assert.equal((await share.getProperties()).rootSquash, 'AllSquash');
  // SMB has no root to squash.
  await assert.rejects((await freshShare()).setProperties({ rootSquash: 'AllSquash' }), refused(400, 'InvalidHeaderValue'));
});

test('metadata replaces what was there', async () => {
  const share = await freshShare({ metadata: { a: '1', b: '2' } });
  const before = await share.getProperties();
  const set = await share.setMetadata({ C: '3' });
  assert.notEqual(set.etag, before.etag);
  assert.deepEqual((await share.getProperties()).metadata, { c: '3' });
  await share.setMetadata();
  assert.deepEqual((await share.getProperties()).metadata, {});
  const path = `/${share.name}?restype=share&comp=metadata`;
  await request(server, 'PUT', path, { headers: { 'x-ms-meta-size': '9' } });
  for (const method of ['GET', 'HEAD']) {
    const answer = await request(server, method, path);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['x-ms-meta-size'], '9');
  }
  const refusals = [
    [{ 'x-ms-meta-': 'value' }, 'EmptyMetadataKey'],
    [{ 'x-ms-meta-1x': 'value' }, 'InvalidMetadata'],
    [{ 'x-ms-meta-big': 'x'.repeat(9000) }, 'MetadataTooLarge'],
  ];
  for (const [headers, code] of refusals) {
    const answer = await request(server, 'PUT', path, { headers });
    assert.deepEqual([answer.status, answer.code], [400, code]);
  }
  await assert.rejects(service.getShareClient('none').setMetadata({ a: '1' }), refused(404, 'ShareNotFound'));
});

test('access policies come back as they were set', async () => {
  const share = await freshShare();
  const before = await share.getAccessPolicy();
  assert.deepEqual(before.signedIdentifiers, []);
  const policies = [{ id: 'first', accessPolicy: { permissions: 'rwd', startsOn: new Date('2024-01-02T03:04:05Z'),
    expiresOn: new Date('2034-01-02T03:04:05Z') } }];
  const set = await share.setAccessPolicy(policies);
  assert.notEqual(set.etag, before.etag);
  const { signedIdentifiers } = await share.getAccessPolicy();
  assert.deepEqual(signedIdentifiers.map(({ id, accessPolicy }) => [id, accessPolicy.permissions]), [['first', 'rwd']]);
  const many = Array.from({ length: 6 }, (_, i) => ({ id: `${i}`, accessPolicy: policies[0].accessPolicy }));
  await assert.rejects(share.setAccessPolicy(many), refused(400, 'InvalidXmlDocument'));
  assert.equal((await share.getAccessPolicy()).signedIdentifiers.length, 1);
  await share.setAccessPolicy();
  assert.deepEqual((await share.getAccessPolicy()).signedIdentifiers, []);
  await assert.rejects(service.getShareClient('none').getAccessPolicy(), refused(404, 'ShareNotFound'));
  await assert.rejects(service.getShareClient('none').setAccessPolicy([]), refused(404, 'ShareNotFound'));
});

test('statistics add up the files', async () => {
  const share = await freshShare();
  assert.equal((await share.getStatistics()).shareUsageBytes, 0);
  await rootOf(share).getFileClient('a').create(3 * MIB);
  await (await share.createDirectory('d')).directoryClient.getFileClient('b').create(10);
  assert.equal((await share.getStatistics()).shareUsageBytes, 3 * MIB + 10);
  await share.deleteFile('a');
  assert.equal((await share.getStatistics()).shareUsageBytes, 10);
  const old = await request(server, 'GET', `/${share.name}?restype=share&comp=stats`, { headers: { 'x-ms-version': '2018-03-28' } });
  assert.match(old.text, /<ShareUsage>1<\/ShareUsage>/);
  await assert.rejects(service.getShareClient('none').getStatistics(), refused(404, 'ShareNotFound'));
});

test('lists: prefix, pages, metadata', async () => {
  for (const name of ['list-a', 'list-b', 'list-c', 'list-d', 'list-e']) {
    await service.getShareClient(name).create({ metadata: { name: name.at(-1) } });
  }
  assert.deepEqual(await namesOf(service.listShares({ prefix: 'list-' })), ['list-a', 'list-b', 'list-c', 'list-d', 'list-e']);
  assert.deepEqual(await namesOf(service.listShares({ prefix: 'list-c' })), ['list-c']);
  assert.deepEqual(await namesOf(service.listShares({ prefix: 'nothing' })), []);
  const sizes = [];
  for await (const page of service.listShares({ prefix: 'list-' }).byPage({ maxPageSize: 2 })) {
    sizes.push(page.shareItems.length);
    assert.equal(page.maxResults, 2);
    for (const item of page.shareItems) {
      assert.equal(item.metadata, undefined);
      assert.equal(item.properties.quota, 5120);
      assert.match(item.properties.etag, /0x/);
    }
  }
  assert.deepEqual(sizes, [2, 2, 1]);
  for await (const item of service.listShares({ prefix: 'list-', includeMetadata: true })) {
    assert.deepEqual(item.metadata, { name: item.name.at(-1) });
  }
  const refusals = [
    ['maxresults=0', 'OutOfRangeQueryParameterValue'],
    ['maxresults=x', 'InvalidQueryParameterValue'],
    ['include=everything', 'InvalidQueryParameterValue'],
    ['marker=nonsense', 'InvalidQueryParameterValue'],
  ];
  for (const [query, code] of refusals) {
    const answer = await request(server, 'GET', `/?comp=list&${query}`);
    assert.deepEqual([answer.status, answer.code], [400, code], query);
  }
});
