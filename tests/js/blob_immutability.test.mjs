// Retention policies and legal holds of blobs, in an account that supports them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';

const { freshContainer } = await blobServer({
  flags: ['--setting', 'blobVersioning=true', '--setting', 'blobImmutability=true'],
});
const container = await freshContainer();
// The service keeps whole seconds.
const seconds = (count) => new Date(Math.floor(Date.now() / 1000) * 1000 + count * 1000);
let counter = 0;
async function freshBlob() {
  const blob = container.getBlockBlobClient(`b${counter++}`);
  await blob.upload('precious', 8);
  return blob;
}

test('a policy keeps a blob from being changed or deleted until its time', async () => {
  const blob = await freshBlob();
  const expiriesOn = seconds(600);
  const set = await blob.setImmutabilityPolicy({ expiriesOn, policyMode: 'Unlocked' });
  assert.deepEqual(set.immutabilityPolicyExpiry, expiriesOn);
  const shown = await blob.getProperties();
  assert.deepEqual(shown.immutabilityPolicyExpiresOn, expiriesOn);
  assert.equal(shown.immutabilityPolicyMode.toLowerCase(), 'unlocked');
  const { versionId } = shown;
  await assert.rejects(blob.withVersion(versionId).delete(), (error) => error.statusCode >= 403 && error.statusCode <= 409);
  assert.equal(await textOf(blob), 'precious');
  await blob.deleteImmutabilityPolicy();
  assert.equal((await blob.getProperties()).immutabilityPolicyExpiresOn, undefined);
});

test('a locked policy is only extended', async () => {
  const blob = await freshBlob();
  await blob.setImmutabilityPolicy({ expiriesOn: seconds(600), policyMode: 'Unlocked' });
  await blob.setImmutabilityPolicy({ expiriesOn: seconds(1200), policyMode: 'Locked' });
  await assert.rejects(blob.setImmutabilityPolicy({ expiriesOn: seconds(900), policyMode: 'Locked' }),
    (error) => error.statusCode === 409 || error.statusCode === 400);
  await assert.rejects(blob.deleteImmutabilityPolicy(), (error) => error.statusCode === 409);
  const expiriesOn = seconds(1800);
  await blob.setImmutabilityPolicy({ expiriesOn, policyMode: 'Locked' });
  assert.deepEqual((await blob.getProperties()).immutabilityPolicyExpiresOn, expiriesOn);
});

test('a legal hold keeps a blob until it is lifted', async () => {
  const blob = await freshBlob();
  assert.equal((await blob.setLegalHold(true)).legalHold, true);
  assert.equal((await blob.getProperties()).legalHold, true);
  await refusedUnchanged(blob, 409, 'BlobImmutableDueToLegalHold', () => blob.delete());
  await blob.setLegalHold(false);
  await blob.delete();
});

test('both can be given when a blob is created, and are listed', async () => {
  const blob = container.getBlockBlobClient('created-held');
  const expiriesOn = seconds(600);
  await blob.upload('x', 1, { legalHold: true, immutabilityPolicy: { expiriesOn, policyMode: 'Unlocked' } });
  const shown = await blob.getProperties();
  assert.equal(shown.legalHold, true);
  assert.deepEqual(shown.immutabilityPolicyExpiresOn, expiriesOn);
  const include = { includeLegalHold: true, includeImmutabilityPolicy: true };
  for await (const item of container.listBlobsFlat({ prefix: 'created-held', ...include })) {
    assert.equal(item.properties.legalHold, true);
    assert.deepEqual(item.properties.immutabilityPolicyExpiresOn, expiriesOn);
  }
  await blob.setLegalHold(false);
  await blob.deleteImmutabilityPolicy();
});

test('what is missing or in the past is refused', async () => {
  const missing = container.getBlockBlobClient('missing');
  await assert.rejects(missing.setLegalHold(true), refused(404, 'BlobNotFound'));
  const blob = await freshBlob();
  await assert.rejects(blob.setImmutabilityPolicy({ expiriesOn: seconds(-60), policyMode: 'Unlocked' }),
    (error) => error.statusCode === 400);
  assert.equal((await blob.getProperties()).immutabilityPolicyExpiresOn, undefined);
});
