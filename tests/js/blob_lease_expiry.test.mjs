// Leases that run out. The shortest lease lasts 15 seconds, so all cases share one wait.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { blobServer, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';

const { freshContainer } = await blobServer();
const A = crypto.randomUUID();
const B = crypto.randomUUID();
const LEASE_S = 15;

const container = await freshContainer();
const blobs = {};
for (const name of ['written', 'renewed', 'taken', 'forgotten', 'released', 'broken', 'breaking']) {
  const blob = container.getBlockBlobClient(name);
  await blob.upload('original', 8);
  blobs[name] = blob;
}
const box = await freshContainer();

before(async () => {
  for (const target of [...Object.values(blobs), box]) await target.getBlobLeaseClient(A).acquireLease(LEASE_S);
  await blobs.breaking.getBlobLeaseClient(A).breakLease(1);
  const late = Date.now() + (LEASE_S + 10) * 1000;
  while ((await box.getProperties()).leaseState !== 'expired') {
    assert.ok(Date.now() < late, 'the lease does not run out');
    await sleep(200);
  }
});

test('an expired lease shows, locks nothing, and its id is of no more use', async () => {
  const { leaseState, leaseStatus, leaseDuration } = await blobs.written.getProperties();
  assert.deepEqual({ leaseState, leaseStatus, leaseDuration },
    { leaseState: 'expired', leaseStatus: 'unlocked', leaseDuration: undefined });
  await refusedUnchanged(blobs.written, 412, 'LeaseLost',
    () => blobs.written.upload('new', 3, { conditions: { leaseId: A } }));
  await refusedUnchanged(blobs.written, 412, 'LeaseLost',
    () => blobs.written.getProperties({ conditions: { leaseId: A } }));
  await blobs.written.upload('new', 3);
  assert.equal(await textOf(blobs.written), 'new');
  assert.equal((await blobs.written.getProperties()).leaseState, 'available');
});

test('it can be renewed as long as nobody wrote', async () => {
  await blobs.renewed.getBlobLeaseClient(A).renewLease();
  assert.equal((await blobs.renewed.getProperties()).leaseState, 'leased');
  await blobs.forgotten.setMetadata({ a: 'b' });
  await assert.rejects(blobs.forgotten.getBlobLeaseClient(A).renewLease(),
    refused(409, 'LeaseIdMismatchWithLeaseOperation'));
});

test('it can be taken by another, released, or broken', async () => {
  await blobs.taken.getBlobLeaseClient(B).acquireLease(LEASE_S);
  await assert.rejects(blobs.taken.getBlobLeaseClient(A).renewLease(), refused(409, 'LeaseIdMismatchWithLeaseOperation'));
  await blobs.released.getBlobLeaseClient(A).releaseLease();
  assert.equal((await blobs.released.getProperties()).leaseState, 'available');
  assert.equal((await blobs.broken.getBlobLeaseClient(A).breakLease(60)).leaseTime, 0);
  assert.equal((await blobs.broken.getProperties()).leaseState, 'broken');
});

test('a lease that was breaking is broken when its time is over', async () => {
  assert.equal((await blobs.breaking.getProperties()).leaseState, 'broken');
  await assert.rejects(blobs.breaking.getBlobLeaseClient(A).renewLease(), refused(409, 'LeaseIsBrokenAndCannotBeRenewed'));
});

test('an expired container lease can be renewed whatever was written', async () => {
  await assert.rejects(box.delete({ conditions: { leaseId: A } }), refused(412, 'LeaseLost'));
  await box.setMetadata({ a: 'b' });
  await box.getBlobLeaseClient(A).renewLease();
  assert.equal((await box.getProperties()).leaseState, 'leased');
});
