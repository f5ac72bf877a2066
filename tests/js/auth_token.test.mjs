// OAuth tokens and what is delegated with them, over TLS: tokens of our own making, user delegation keys and SAS.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import {
  AnonymousCredential, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions, StorageSharedKeyCredential,
  generateBlobSASQueryParameters,
} from '@azure/storage-blob';
import { ACCOUNT, KEY, Server, tlsFlags } from './server.mjs';

const server = await Server.forThisFile({ flags: ['--oauth', 'basic', ...(await tlsFlags())] });
const once = { retryOptions: { maxTries: 1 } };
const owner = new BlobServiceClient(server.blobUrl, new StorageSharedKeyCredential(ACCOUNT, KEY), once);
const minutes = (count) => new Date(Date.now() + count * 60_000);
const seconds = (date) => Math.floor(date.getTime() / 1000);

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const oid = crypto.randomUUID();
const tid = crypto.randomUUID();
function bearer(changes = {}) {
  const claims = { aud: 'https://storage.azure.com', iss: `https://sts.windows.net/${tid}/`, iat: seconds(minutes(-1)),
    nbf: seconds(minutes(-1)), exp: seconds(minutes(60)), oid, tid, ...changes };
  const token = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${Buffer.from('unchecked').toString('base64url')}`;
  return { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
}
const as = (changes) => new BlobServiceClient(server.blobUrl, bearer(changes), once);
const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.code, code);
  return true;
};

const container = owner.getContainerClient('delegated');
await container.create();
await container.getBlockBlobClient('dir/b').upload('hello', 5);

test('a token reads and writes', async () => {
  const blob = as().getContainerClient('delegated').getBlockBlobClient('by-token');
  await blob.upload('token', 5);
  assert.equal((await blob.downloadToBuffer()).toString(), 'token');
});

test('wrong tokens are challenged', async () => {
  for (const changes of [{ aud: 'https://example.org' }, { iss: 'https://example.org/' }, { exp: seconds(minutes(-10)) },
    { nbf: seconds(minutes(10)) }, { aud: 'https://other.blob.core.windows.net' }]) {
    await assert.rejects(as(changes).getProperties(), refused(401, 'InvalidAuthenticationInfo'), JSON.stringify(changes));
  }
});

test('user delegation SAS: what it grants, its limits, its key', async () => {
  const key = await as().getUserDelegationKey(minutes(-5), minutes(30));
  assert.equal(key.signedObjectId, oid);
  assert.equal(key.signedTenantId, tid);
  const sas = (changes, signing = key) => generateBlobSASQueryParameters({
    containerName: 'delegated', blobName: 'dir/b', permissions: BlobSASPermissions.parse('r'), expiresOn: minutes(10),
    ...changes,
  }, signing, ACCOUNT);
  const blob = (token, name = 'dir/b') =>
    new BlobServiceClient(`${server.blobUrl}?${token}`, new AnonymousCredential(), once)
      .getContainerClient('delegated').getBlockBlobClient(name);
  for (const version of ['2018-11-09', '2020-02-10', '2020-12-06', '2025-07-05', '2026-04-06']) {
    const read = await blob(sas({ version })).downloadToBuffer();
    assert.equal(read.toString(), 'hello', version);
  }
  const whole = { blobName: undefined, permissions: ContainerSASPermissions.parse('rl') };
  assert.equal((await blob(sas(whole)).downloadToBuffer()).toString(), 'hello');
  await assert.rejects(blob(sas({})).delete(), refused(403, 'AuthorizationPermissionMismatch'));
  await assert.rejects(blob(sas({ expiresOn: minutes(-1) })).download(), refused(403, 'AuthenticationFailed'));
  const longer = { ...key, signedExpiresOn: minutes(60) };
  await assert.rejects(blob(sas({}, longer)).download(), refused(403, 'AuthenticationFailed'));
  const stranger = { ...key, signedObjectId: crypto.randomUUID() };
  await assert.rejects(blob(sas({}, stranger)).download(), refused(403, 'AuthenticationFailed'));
});

test('delegation keys last at most a week and go to tokens only', async () => {
  await assert.rejects(as().getUserDelegationKey(minutes(0), minutes(8 * 24 * 60)), refused(400, 'InvalidXmlNodeValue'));
  await assert.rejects(owner.getUserDelegationKey(minutes(0), minutes(10)), refused(403, 'AuthenticationFailed'));
});

test('the parts of a batch inherit its version, so that a token serves for them too', async () => {
  const { token } = await bearer().getToken();
  for (const name of ['part-1', 'part-2']) await container.getBlockBlobClient(name).upload('x', 1);
  const part = (name, headers) => `--b\r\nContent-Type: application/http\r\n\r\nDELETE /${ACCOUNT}/delegated/${name} HTTP/1.1\r\n` +
    `Authorization: Bearer ${token}\r\n${headers}\r\n\r\n`;
  const send = async (parts) => {
    const response = await fetch(`${server.blobUrl}/?comp=batch`, { method: 'POST', body: `${parts}--b--\r\n`,
      headers: { authorization: `Bearer ${token}`, 'x-ms-version': '2021-12-02', 'content-type': 'multipart/mixed; boundary=b' } });
    return [...(await response.text()).matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]);
  };
  assert.deepEqual(await send(part('part-1', '') + part('part-2', 'x-ms-version: 2017-07-29\r\n')), ['202', '403']);
  assert.equal(await container.getBlobClient('part-2').exists(), true);
});

test('plain HTTP is told that this port speaks HTTPS', async () => {
  const { hostname, port } = new URL(server.blobUrl);
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const response = await fetch(`http://${hostname}:${port}/${ACCOUNT}?comp=list`, { method });
    assert.equal(response.status, 400, method);
    assert.match(await response.text(), /https:\/\//);
  }
});
