// Containers through the SDK: their life, names, metadata, policies, conditions, and how they are listed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { blobServer, credential, namesOf, once, refused, request } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, service, freshContainer } = await blobServer();
const HOUR_MS = 3_600_000;

test('a container is created once, found, and deleted once', async () => {
  const container = service.getContainerClient('life');
  assert.equal(await container.exists(), false);
  const created = await container.create({ metadata: { colour: 'blue' } });
  assert.match(created.etag, /^"0x[0-9A-F]+"$/);
  const shown = await container.getProperties();
  assert.equal(shown.etag, created.etag);
  assert.deepEqual(shown.lastModified, created.lastModified);
  assert.deepEqual(shown.metadata, { colour: 'blue' });
  assert.equal(shown.leaseState, 'available');
  assert.equal(shown.hasImmutabilityPolicy, false);
  await assert.rejects(container.create({ metadata: { other: 'x' } }), refused(409, 'ContainerAlreadyExists'));
  assert.deepEqual((await container.getProperties()).metadata, { colour: 'blue' });
  assert.equal((await container.createIfNotExists()).succeeded, false);
  await container.delete();
  await assert.rejects(container.delete(), refused(404, 'ContainerNotFound'));
  assert.equal((await container.deleteIfExists()).succeeded, false);
  await assert.rejects(container.getProperties(), refused(404, 'ContainerNotFound'));
});

test('a name can be used again at once, and the new container is empty', async () => {
  const container = await freshContainer();
  await container.getBlockBlobClient('old').upload('old', 3);
  await container.delete();
  await assert.rejects(container.getBlockBlobClient('old').download(), refused(404, 'ContainerNotFound'));
  await assert.rejects(container.getBlockBlobClient('new').upload('x', 1), refused(404, 'ContainerNotFound'));
  await container.create();
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
  await assert.rejects(container.getBlobClient('old').getProperties(), refused(404, 'BlobNotFound'));
});

test('names: what is allowed and what is not', async () => {
  for (const name of ['abc', 'a1b', '0-9', 'a'.repeat(63), 'a-b-c-d', '$root', '$web']) {
    const container = service.getContainerClient(name);
    await container.create();
    assert.equal(await container.exists(), true, name);
    await container.delete();
  }
  const bad = {
    InvalidResourceName: ['Abc', 'a_b', 'a--b', '-abc', 'abc-', 'a.b', 'ümlaut', '$other'],
    OutOfRangeInput: ['ab', 'a'.repeat(64)],
  };
  for (const [code, names] of Object.entries(bad)) {
    for (const name of names) {
      await assert.rejects(service.getContainerClient(name).create(), refused(400, code), name);
    }
  }
});

test('metadata replaces what was there', async () => {
  const container = await freshContainer({ metadata: { first: '1', second: '2' } });
  const before = await container.getProperties();
  await container.setMetadata({ third: '3' });
  const after = await container.getProperties();
  assert.deepEqual(after.metadata, { third: '3' });
  assert.notEqual(after.etag, before.etag);
  await container.setMetadata();
  assert.deepEqual((await container.getProperties()).metadata, {});
  await assert.rejects(service.getContainerClient('none').setMetadata({}), refused(404, 'ContainerNotFound'));
});

test('access policies are kept with their times', async () => {
  const container = await freshContainer();
  const policies = [
    { id: 'first', accessPolicy: { startsOn: new Date('2024-01-02T03:04:05Z'), expiresOn: new Date('2034-01-02T03:04:05Z'),
      permissions: 'rwd' } },
    { id: 'second', accessPolicy: { permissions: 'l' } },
  ];
  await container.setAccessPolicy('container', policies);
  const kept = await container.getAccessPolicy();
  assert.equal(kept.blobPublicAccess, 'container');
  assert.deepEqual(kept.signedIdentifiers.map((policy) => policy.id), ['first', 'second']);
  assert.deepEqual(kept.signedIdentifiers[0].accessPolicy, policies[0].accessPolicy);
  assert.equal((await container.getProperties()).blobPublicAccess, 'container');
  await container.setAccessPolicy();
  const empty = await container.getAccessPolicy();
  assert.equal(empty.blobPublicAccess, undefined);
  assert.deepEqual(empty.signedIdentifiers, []);
});

test('at most five policies', async () => {
  const container = await freshContainer();
  const policies = (count) => Array.from({ length: count }, (_, i) => ({ id: `p${i}`, accessPolicy: { permissions: 'r' } }));
  await container.setAccessPolicy(undefined, policies(5));
  const before = await container.getProperties();
  await assert.rejects(container.setAccessPolicy(undefined, policies(6)), refused(400, 'InvalidXmlDocument'));
  assert.equal((await container.getProperties()).etag, before.etag);
  assert.equal((await container.getAccessPolicy()).signedIdentifiers.length, 5);
});

test('date conditions', async () => {
  const uses = {
    'set metadata': [(box, conditions) => box.setMetadata({ a: 'b' }, { conditions }), ['ifModifiedSince']],
    'set policy': [(box, conditions) => box.setAccessPolicy(undefined, [], { conditions }),
      ['ifModifiedSince', 'ifUnmodifiedSince']],
    lease: [(box, conditions) => box.getBlobLeaseClient().acquireLease(-1, { conditions }),
      ['ifModifiedSince', 'ifUnmodifiedSince']],
    delete: [(box, conditions) => box.delete({ conditions }), ['ifModifiedSince', 'ifUnmodifiedSince']],
  };
  for (const [name, [use, takes]] of Object.entries(uses)) {
    for (const condition of takes) {
      const box = await freshContainer();
      const before = await box.getProperties();
      const earlier = new Date(before.lastModified.getTime() - HOUR_MS);
      const [holds, fails] = condition === 'ifModifiedSince' ? [earlier, before.lastModified] : [before.lastModified, earlier];
      await assert.rejects(use(box, { [condition]: fails }), refused(412, 'ConditionNotMet'), `${name} ${condition}`);
      const after = await box.getProperties();
      assert.equal(after.etag, before.etag);
      assert.equal(after.leaseState, 'available');
      await use(box, { [condition]: holds });
    }
  }
});

test('blobs do not touch the ETag of their container', async () => {
  const container = await freshContainer();
  const { etag } = await container.getProperties();
  const blob = container.getBlockBlobClient('b');
  await blob.upload('x', 1);
  await blob.delete();
  assert.equal((await container.getProperties()).etag, etag);
});

test('listing: order, prefix, metadata, pages', async () => {
  const names = ['listed-b', 'listed-a', 'listed-c-1', 'listed-c-2', 'listed-d'];
  for (const name of names) await service.getContainerClient(name).create({ metadata: { of: name.replaceAll('-', '_') } });
  const sorted = [...names].sort();
  assert.deepEqual(await namesOf(service.listContainers({ prefix: 'listed-' })), sorted);
  assert.deepEqual(await namesOf(service.listContainers({ prefix: 'listed-c' })), ['listed-c-1', 'listed-c-2']);
  assert.deepEqual(await namesOf(service.listContainers({ prefix: 'unlisted' })), []);
  const all = await namesOf(service.listContainers());
  assert.deepEqual(all, [...all].sort());

  for await (const item of service.listContainers({ prefix: 'listed-', includeMetadata: true })) {
    assert.deepEqual(item.metadata, { of: item.name.replaceAll('-', '_') });
    assert.equal(item.properties.leaseState, 'available');
    assert.equal(item.properties.etag, (await service.getContainerClient(item.name).getProperties()).etag);
  }
  for await (const item of service.listContainers({ prefix: 'listed-' })) assert.equal(item.metadata, undefined);

  for (const maxPageSize of [1, 2, 3, 5, 6]) {
    const pages = [];
    for await (const page of service.listContainers({ prefix: 'listed-' }).byPage({ maxPageSize })) {
      pages.push(page.containerItems.map((item) => item.name));
    }
    assert.deepEqual(pages.flat(), sorted);
    assert.equal(pages.length, Math.ceil(names.length / maxPageSize));
  }
});

test('listing: a marker outlives what it points at', async () => {
  const names = ['marked-1', 'marked-2', 'marked-3'];
  for (const name of names) await service.getContainerClient(name).create();
  const first = (await service.listContainers({ prefix: 'marked-' }).byPage({ maxPageSize: 1 }).next()).value;
  await service.getContainerClient('marked-2').delete();
  const rest = service.listContainers({ prefix: 'marked-' }).byPage({ continuationToken: first.continuationToken });
  assert.deepEqual((await rest.next()).value.containerItems.map((item) => item.name), ['marked-3']);
});

test('listing: parameters out of range are refused', async () => {
  const rows = [['maxresults=0', 'OutOfRangeQueryParameterValue'], ['maxresults=-1', 'OutOfRangeQueryParameterValue'],
    ['maxresults=x', 'InvalidQueryParameterValue'], ['include=nothing', 'InvalidQueryParameterValue']];
  for (const [query, code] of rows) {
    const got = await request(server, 'GET', `/${ACCOUNT}/?comp=list&${query}`);
    assert.equal(got.status, 400, query);
    assert.equal(got.code, code, query);
  }
  assert.equal((await request(server, 'GET', `/${ACCOUNT}/?comp=list&maxresults=5001`)).status, 200);
});

test('$root holds blobs that are named without a container', async () => {
  const root = service.getContainerClient('$root');
  await root.create();
  await root.getBlockBlobClient('top.txt').upload('top', 3);
  const got = await request(server, 'GET', `/${ACCOUNT}/top.txt`);
  assert.equal(got.status, 200);
  assert.equal(got.text, 'top');
  await root.delete();
});

test('a container in another account is another container', async () => {
  const other = new BlobServiceClient(server.blobUrl.replace(ACCOUNT, 'nobody'), credential, once);
  await assert.rejects(other.getContainerClient('abc').create(), (error) => error.statusCode >= 400 && error.statusCode < 500);
});
