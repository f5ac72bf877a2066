// Leases on files: acquire, change, release, break, and what needs the id.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ShareLeaseClient } from '@azure/storage-file-share';
import { fileServer, fileWith, refused, request, rootOf, textOf } from './file_fixtures.mjs';

const { server, freshShare } = await fileServer();
const share = await freshShare();
const id = randomUUID();
let counter = 0;
const fresh = () => fileWith(rootOf(share), `file-${counter++}`, 'content');
const holding = (leaseId) => ({ leaseAccessConditions: { leaseId } });

test('acquire, change, release', async () => {
  const file = await fresh();
  const { etag } = await file.getProperties();
  const lease = new ShareLeaseClient(file, id);
  assert.equal((await lease.acquireLease()).leaseId, id);
  let shown = await file.getProperties();
  assert.deepEqual([shown.leaseState, shown.leaseStatus, shown.leaseDuration, shown.etag], ['leased', 'locked', 'infinite', etag]);
  await lease.acquireLease();
  await assert.rejects(new ShareLeaseClient(file, randomUUID()).acquireLease(), refused(409, 'LeaseAlreadyPresent'));
  const next = randomUUID();
  await lease.changeLease(next);
  await assert.rejects(new ShareLeaseClient(file, id).releaseLease(), refused(409, 'LeaseIdMismatchWithLeaseOperation'));
  await lease.releaseLease();
  shown = await file.getProperties();
  assert.deepEqual([shown.leaseState, shown.leaseStatus], ['available', 'unlocked']);
  await assert.rejects(lease.changeLease(id), refused(409, 'LeaseNotPresentWithLeaseOperation'));
  await assert.rejects(lease.breakLease(), refused(409, 'LeaseNotPresentWithLeaseOperation'));
});

test('a break works at once', async () => {
  const file = await fresh();
  const lease = new ShareLeaseClient(file, id);
  await lease.acquireLease();
  await new ShareLeaseClient(file).breakLease();
  const shown = await file.getProperties();
  assert.deepEqual([shown.leaseState, shown.leaseStatus], ['broken', 'unlocked']);
  await file.uploadRange('x', 0, 1);
  await new ShareLeaseClient(file, randomUUID()).acquireLease();
});

test('changes need the id, reads only a right one', async () => {
  const file = await fresh();
  const lease = new ShareLeaseClient(file, id);
  await lease.acquireLease();
  const changes = {
    uploadRange: (options) => file.uploadRange('x', 0, 1, options),
    clearRange: (options) => file.clearRange(0, 1, options),
    setHttpHeaders: (options) => file.setHttpHeaders({ fileContentType: 'text/plain' }, options),
    setMetadata: (options) => file.setMetadata({ a: '1' }, options),
    resize: (options) => file.resize(9, options),
    create: (options) => file.create(7, options),
  };
  const reads = {
    getProperties: (options) => file.getProperties(options),
    download: async (options) => (await file.download(0, 1, options)).readableStreamBody?.resume(),
    getRangeList: (options) => file.getRangeList(options),
  };
  for (const [name, use] of Object.entries(changes)) {
    await assert.rejects(use(), refused(412, 'LeaseIdMissing'), name);
  }
  for (const use of Object.values(reads)) await use();
  for (const [name, use] of Object.entries({ ...reads, ...changes })) {
    await assert.rejects(use(holding(randomUUID())), refused(412, 'LeaseIdMismatchWithFileOperation'), name);
    // Creating anew keeps the lease of those who hold it.
    await use(holding(id));
  }
  await assert.rejects(file.delete(), refused(412, 'LeaseIdMissing'));
  await lease.releaseLease();
  for (const [name, use] of Object.entries({ ...reads, ...changes })) {
    await assert.rejects(use(holding(id)), refused(412, 'LeaseNotPresentWithFileOperation'), name);
  }
  await lease.acquireLease();
  await file.delete(holding(id));
  assert.equal(await file.exists(), false);
});

test('bad requests', async () => {
  const file = await fresh();
  const lease = async (headers, name = file.name) => {
    const { status, code } = await request(server, 'PUT', `/${share.name}/${name}?comp=lease`, { headers });
    return [status, code];
  };
  const acquire = { 'x-ms-lease-action': 'acquire' };
  assert.deepEqual(await lease({ ...acquire, 'x-ms-lease-duration': '15' }), [400, 'InvalidHeaderValue']);
  assert.deepEqual(await lease({ ...acquire, 'x-ms-lease-duration': '-1', 'x-ms-proposed-lease-id': 'x' }), [400, 'InvalidHeaderValue']);
  assert.deepEqual(await lease({ 'x-ms-lease-action': 'renew', 'x-ms-lease-id': id }), [400, 'InvalidHeaderValue']);
  assert.deepEqual(await lease({ 'x-ms-lease-action': 'release' }), [400, 'MissingRequiredHeader']);
  assert.deepEqual(await lease({ ...acquire, 'x-ms-lease-duration': '-1' }, 'none'), [404, 'ResourceNotFound']);
  assert.equal(await textOf(file), 'content');
});

test('deleting a share ignores leases of its files', async () => {
  const own = await freshShare();
  const file = await fileWith(rootOf(own), 'file', 'x');
  await new ShareLeaseClient(file, id).acquireLease();
  await own.delete();
  assert.equal(await own.exists(), false);
});
