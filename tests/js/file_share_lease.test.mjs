// Leases on shares: the five actions, who may do what beside them, and leases on snapshots.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ShareLeaseClient } from '@azure/storage-file-share';
import { fileServer, fileWith, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();
const id = randomUUID();

test('acquire, renew, change, release', async () => {
  const share = await freshShare();
  const { etag } = await share.getProperties();
  const lease = new ShareLeaseClient(share, id);
  const acquired = await lease.acquireLease(-1);
  assert.deepEqual([acquired.leaseId, acquired.etag], [id, etag]);
  let shown = await share.getProperties();
  assert.deepEqual([shown.leaseState, shown.leaseStatus, shown.leaseDuration], ['leased', 'locked', 'infinite']);
  const [item] = await Array.fromAsync(service.listShares({ prefix: share.name }));
  assert.deepEqual([item.properties.leaseState, item.properties.leaseDuration], ['leased', 'infinite']);
  // The SDK takes every share for a file here.
  const renewed = await request(server, 'PUT', `/${share.name}?restype=share&comp=lease`, {
    headers: { 'x-ms-lease-action': 'renew', 'x-ms-lease-id': id },
  });
  assert.deepEqual([renewed.status, renewed.headers['x-ms-lease-id']], [200, id]);
  await assert.rejects(new ShareLeaseClient(share, randomUUID()).acquireLease(15), refused(409, 'LeaseAlreadyPresent'));
  const next = randomUUID();
  await lease.changeLease(next);
  assert.equal(lease.leaseId, next);
  await assert.rejects(new ShareLeaseClient(share, id).releaseLease(), refused(409, 'LeaseIdMismatchWithLeaseOperation'));
  await lease.releaseLease();
  shown = await share.getProperties();
  assert.deepEqual([shown.leaseState, shown.leaseStatus, shown.leaseDuration], ['available', 'unlocked', undefined]);
  assert.equal(shown.etag, etag);
});

test('break', async () => {
  const share = await freshShare();
  const lease = new ShareLeaseClient(share, id);
  await assert.rejects(lease.breakLease(), refused(409, 'LeaseNotPresentWithLeaseOperation'));
  await lease.acquireLease(-1);
  assert.equal((await lease.breakLease()).leaseTimeInSeconds, 0);
  assert.equal((await share.getProperties()).leaseState, 'broken');
  await share.delete();
});

test('deletion needs the id, everything else only a right one', async () => {
  const share = await freshShare();
  const lease = new ShareLeaseClient(share, id);
  await lease.acquireLease(-1);
  await assert.rejects(share.delete(), refused(412, 'LeaseIdMissing'));
  const wrong = { leaseAccessConditions: { leaseId: randomUUID() } };
  const right = { leaseAccessConditions: { leaseId: id } };
  await share.setMetadata({ a: '1' });
  await fileWith(rootOf(share), 'file', 'x');
  const uses = {
    getProperties: (options) => share.getProperties(options),
    setMetadata: (options) => share.setMetadata({ a: '1' }, options),
    setQuota: (options) => share.setQuota(5, options),
    getAccessPolicy: (options) => share.getAccessPolicy(options),
    setAccessPolicy: (options) => share.setAccessPolicy([], options),
    getStatistics: (options) => share.getStatistics(options),
  };
  for (const [name, use] of Object.entries(uses)) {
    await use(right);
    await assert.rejects(use(wrong), refused(412, 'LeaseIdMismatchWithContainerOperation'), name);
  }
  await lease.releaseLease();
  for (const [name, use] of Object.entries(uses)) {
    await assert.rejects(use(right), refused(412, 'LeaseNotPresentWithContainerOperation'), name);
  }
  await assert.rejects(share.delete(right), refused(412, 'LeaseNotPresentWithContainerOperation'));
  await lease.acquireLease(15);
  await share.delete(right);
});

test('bad requests', async () => {
  const share = await freshShare();
  for (const duration of [14, 61, 70]) {
    await assert.rejects(new ShareLeaseClient(share, id).acquireLease(duration), refused(400, 'InvalidHeaderValue'));
  }
  const lease = async (headers) => {
    const { status, code } = await request(server, 'PUT', `/${share.name}?restype=share&comp=lease`, { headers });
    return [status, code];
  };
  assert.deepEqual(await lease({}), [400, 'MissingRequiredHeader']);
  assert.deepEqual(await lease({ 'x-ms-lease-action': 'borrow' }), [400, 'InvalidHeaderValue']);
  assert.deepEqual(await lease({ 'x-ms-lease-action': 'acquire' }), [400, 'MissingRequiredHeader']);
  assert.deepEqual(await lease({ 'x-ms-lease-action': 'renew' }), [400, 'MissingRequiredHeader']);
  const none = new ShareLeaseClient(service.getShareClient('none'), id);
  await assert.rejects(none.acquireLease(-1), refused(404, 'ShareNotFound'));
});

test('a snapshot has a lease of its own', async () => {
  const share = await freshShare();
  const { snapshot } = await share.createSnapshot();
  const shown = share.withSnapshot(snapshot);
  const lease = new ShareLeaseClient(shown, id);
  await lease.acquireLease(-1);
  assert.equal((await shown.getProperties()).leaseState, 'leased');
  assert.equal((await share.getProperties()).leaseState, 'available');
  await assert.rejects(shown.delete(), refused(412, 'LeaseIdMissing'));
  await lease.releaseLease();
  await shown.delete();
  await share.delete();
});
