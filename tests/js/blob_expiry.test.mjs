// Set Blob Expiry: blobs that vanish at their time. No SDK for blobs sends it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, namesOf, picture, request, textOf } from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer({ flags: ['--setting', 'blobExpiry=true'] });
const container = await freshContainer();

async function fresh(name) {
  const blob = container.getBlockBlobClient(name);
  await blob.upload('here', 4);
  return blob;
}
const setExpiry = (blob, headers) =>
  request(server, 'PUT', `${new URL(blob.url).pathname}?comp=expiry`, { headers });
const expiryOf = async (blob) => {
  const { headers } = await request(server, 'HEAD', new URL(blob.url).pathname);
  return headers['x-ms-expiry-time'] && new Date(headers['x-ms-expiry-time']);
};
const HOUR_MS = 3_600_000;

test('the ways to name the time', async () => {
  const blob = await fresh('named');
  const { createdOn, etag } = await blob.getProperties();
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + HOUR_MS);
  const set = await setExpiry(blob, { 'x-ms-expiry-option': 'Absolute', 'x-ms-expiry-time': at.toUTCString() });
  assert.equal(set.status, 200);
  assert.equal(set.headers.etag, etag);
  assert.deepEqual(await expiryOf(blob), at);
  await setExpiry(blob, { 'x-ms-expiry-option': 'RelativeToCreation', 'x-ms-expiry-time': String(2 * HOUR_MS) });
  assert.ok(Math.abs(await expiryOf(blob) - createdOn - 2 * HOUR_MS) <= 1000);
  await setExpiry(blob, { 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': String(3 * HOUR_MS) });
  assert.ok(Math.abs(await expiryOf(blob) - Date.now() - 3 * HOUR_MS) < 60_000);
  await setExpiry(blob, { 'x-ms-expiry-option': 'NeverExpire' });
  assert.equal(await expiryOf(blob), undefined);
  assert.equal(await textOf(blob), 'here');
});

test('a blob past its time is gone for every request, and its name is free', async () => {
  const blob = await fresh('gone');
  assert.equal((await setExpiry(blob, { 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': '1' })).status, 200);
  while (await blob.exists());
  assert.equal(await picture(blob), 'absent');
  assert.ok(!(await namesOf(container.listBlobsFlat())).includes('gone'));
  await blob.upload('again', 5, { conditions: { ifNoneMatch: '*' } });
  assert.equal(await textOf(blob), 'again');
});

test('what is refused', async () => {
  const blob = await fresh('refused');
  const before = await picture(blob);
  const rows = [
    [{}, 'MissingRequiredHeader'],
    [{ 'x-ms-expiry-option': 'Sometime', 'x-ms-expiry-time': '5' }, 'InvalidHeaderValue'],
    [{ 'x-ms-expiry-option': 'Absolute' }, 'MissingRequiredHeader'],
    [{ 'x-ms-expiry-option': 'Absolute', 'x-ms-expiry-time': new Date(0).toUTCString() }, 'InvalidHeaderValue'],
    [{ 'x-ms-expiry-option': 'RelativeToNow', 'x-ms-expiry-time': 'soon' }, 'InvalidHeaderValue'],
  ];
  for (const [headers, code] of rows) {
    const got = await setExpiry(blob, headers);
    assert.equal(got.status, 400, JSON.stringify(headers));
    assert.equal(got.code, code);
  }
  const never = { 'x-ms-expiry-option': 'NeverExpire' };
  assert.equal((await setExpiry(blob, { ...never, 'if-match': '"0x1"' })).status, 412);
  assert.deepEqual(await picture(blob), before);
  const { leaseId } = await blob.getBlobLeaseClient().acquireLease(-1);
  assert.equal((await setExpiry(blob, never)).code, 'LeaseIdMissing');
  assert.equal((await setExpiry(blob, { ...never, 'x-ms-lease-id': leaseId })).status, 200);
  assert.equal((await setExpiry(container.getBlobClient('missing'), never)).status, 404);
});
