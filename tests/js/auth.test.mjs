// Who may do what, through the SDK that signs: SharedKey, account, service and user delegation SAS, stored policies, public
// access. What the SDK cannot be made to send goes by fetch.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import {
  AccountSASPermissions, AnonymousCredential, BlobSASPermissions, BlobServiceClient, ContainerSASPermissions,
  StorageSharedKeyCredential, generateAccountSASQueryParameters, generateBlobSASQueryParameters,
} from '@azure/storage-blob';
import { ACCOUNT, KEY, Server } from './server.mjs';

const server = await Server.forThisFile();
const key = new StorageSharedKeyCredential(ACCOUNT, KEY);
const once = { retryOptions: { maxTries: 1 } };
const owner = new BlobServiceClient(server.blobUrl, key, once);
const minutes = (count) => new Date(Date.now() + count * 60_000);

let counter = 0;
async function freshContainer(options) {
  const container = owner.getContainerClient(`auth-${process.pid}-${counter++}`);
  await container.create(options);
  await container.getBlockBlobClient('dir/b').upload('hello', 5);
  return container;
}

const withToken = (url, token) => new BlobServiceClient(`${url}?${token}`, new AnonymousCredential(), once);
const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  if (code) assert.equal(error.code ?? error.response?.headers.get('x-ms-error-code'), code);
  return true;
};
const read = async (blob) => (await blob.downloadToBuffer()).toString();

test('a wrong key is refused and told what was signed', async () => {
  const wrong = new BlobServiceClient(server.blobUrl, new StorageSharedKeyCredential(ACCOUNT, 'AAAA'), once);
  await assert.rejects(wrong.getProperties(), (error) => {
    assert.equal(error.statusCode, 403);
    assert.equal(error.code, 'AuthenticationFailed');
    assert.match(error.details.authenticationErrorDetail ?? error.message, /string to sign|authenticate/i);
    return true;
  });
});

test('names that sort differently in the SDK are signed right', async () => {
  const container = await freshContainer();
  const blob = container.getBlockBlobClient('ä ö%+?#&=.txt');
  await blob.upload('x', 1, { metadata: { a1: 'x', a_1: 'y', spaced: 'bar  baz' } });
  assert.deepEqual((await blob.getProperties()).metadata, { a1: 'x', a_1: 'y', spaced: 'bar  baz' });
  await blob.delete({ deleteSnapshots: 'include' });
});

test('dates too far off are refused', async () => {
  const response = await fetch(`${server.blobUrl}?comp=list`, {
    headers: { authorization: `SharedKey ${ACCOUNT}:${'A'.repeat(43)}=`, 'x-ms-version': '2021-12-02',
      'x-ms-date': minutes(-16).toUTCString() },
  });
  assert.equal(response.status, 403);
  assert.match(await response.text(), /too old/);
});

test('account SAS: permission, resource type, service', async () => {
  const container = await freshContainer();
  const token = (changes) => generateAccountSASQueryParameters({
    expiresOn: minutes(10), services: 'b', resourceTypes: 'sco', permissions: AccountSASPermissions.parse('rl'), ...changes,
  }, key);
  const blobWith = (changes) =>
    withToken(server.blobUrl, token(changes)).getContainerClient(container.containerName).getBlockBlobClient('dir/b');
  assert.equal(await read(blobWith({})), 'hello');
  await assert.rejects(blobWith({}).upload('x', 1), refused(403, 'AuthorizationPermissionMismatch'));
  await assert.rejects(blobWith({ resourceTypes: 'sc' }).getProperties(), refused(403, 'AuthorizationResourceTypeMismatch'));
  await assert.rejects(blobWith({ services: 'qtf' }).getProperties(), refused(403, 'AuthorizationServiceMismatch'));
  await assert.rejects(blobWith({ expiresOn: minutes(-1) }).getProperties(), refused(403, 'AuthenticationFailed'));
  await assert.rejects(blobWith({ startsOn: minutes(5) }).getProperties(), refused(403, 'AuthenticationFailed'));
  await assert.rejects(blobWith({ protocol: 'https' }).getProperties(), refused(403, 'AuthorizationProtocolMismatch'));
  await assert.rejects(blobWith({ ipRange: { start: '10.9.8.7' } }).getProperties(),
    refused(403, 'AuthorizationSourceIPMismatch'));
  const service = withToken(server.blobUrl, token({ permissions: AccountSASPermissions.parse('rwdlacup') }));
  await assert.rejects(service.getContainerClient(container.containerName).setAccessPolicy(),
    refused(403, 'AuthorizationFailure'));
});

for (const version of ['2015-04-05', '2018-03-28', '2018-11-09', '2020-02-10', '2020-12-06', '2025-07-05', '2026-04-06']) {
  test(`service SAS of ${version}`, async () => {
    const container = await freshContainer();
    const name = container.containerName;
    const sas = (changes) => generateBlobSASQueryParameters({
      version, containerName: name, startsOn: minutes(-5), expiresOn: minutes(10), ...changes,
    }, key);
    const reading = { blobName: 'dir/b', permissions: BlobSASPermissions.parse('r'), contentType: 'text/x-other',
      contentDisposition: 'attachment; filename="ä b.txt"' };
    const blob = withToken(server.blobUrl, sas(reading)).getContainerClient(name).getBlockBlobClient('dir/b');
    const got = await blob.download();
    assert.equal(got.contentType, 'text/x-other');
    await assert.rejects(blob.delete(), refused(403, 'AuthorizationPermissionMismatch'));
    const other = withToken(server.blobUrl, sas(reading)).getContainerClient(name).getBlockBlobClient('dir/c');
    await assert.rejects(other.getProperties(), refused(403, 'AuthenticationFailed'));

    const listing = sas({ permissions: ContainerSASPermissions.parse('l') });
    const listed = [];
    for await (const item of withToken(server.blobUrl, listing).getContainerClient(name).listBlobsFlat()) {
      listed.push(item.name);
    }
    assert.deepEqual(listed, ['dir/b']);
  });
}

test('create permission does not overwrite', async () => {
  const container = await freshContainer();
  const name = container.containerName;
  const token = generateBlobSASQueryParameters(
    { containerName: name, expiresOn: minutes(10), permissions: ContainerSASPermissions.parse('c') }, key);
  const creating = withToken(server.blobUrl, token).getContainerClient(name);
  await creating.getBlockBlobClient('new').upload('x', 1);
  await assert.rejects(creating.getBlockBlobClient('new').upload('y', 1), refused(403, 'UnauthorizedBlobOverwrite'));
  assert.equal(await read(container.getBlockBlobClient('new')), 'x');
});

test('tags and holds take their own permission at creation, too', async () => {
  const container = await freshContainer();
  const name = container.containerName;
  const put = (permissions, headers) => {
    const token = generateBlobSASQueryParameters(
      { containerName: name, expiresOn: minutes(10), permissions: ContainerSASPermissions.parse(permissions) }, key);
    return fetch(`${server.blobUrl}/${name}/new?${token}`, { method: 'PUT', body: 'x',
      headers: { 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2023-11-03', ...headers } });
  };
  for (const headers of [{ 'x-ms-tags': 'a=1' }, { 'x-ms-tags': '' }, { 'x-ms-legal-hold': 'true' }]) {
    const got = await put('cw', headers);
    assert.equal(got.status, 403, JSON.stringify(headers));
    assert.equal(got.headers.get('x-ms-error-code'), 'AuthorizationPermissionMismatch');
  }
  assert.equal(await container.getBlobClient('new').exists(), false);
  assert.equal((await put('cwt', { 'x-ms-tags': 'a=1' })).status, 201);
  assert.deepEqual((await container.getBlobClient('new').getTags()).tags, { a: '1' });
});

test('stored policies: supply, clash, revoke', async () => {
  const container = await freshContainer();
  const name = container.containerName;
  const policy = (changes) =>
    [{ id: 'p', accessPolicy: { startsOn: minutes(-5), expiresOn: minutes(10), permissions: 'r', ...changes } }];
  const token = (changes) => generateBlobSASQueryParameters({ containerName: name, identifier: 'p', ...changes }, key);
  const blob = (changes = {}) =>
    withToken(server.blobUrl, token(changes)).getContainerClient(name).getBlockBlobClient('dir/b');
  await assert.rejects(blob().getProperties(), refused(403, 'AuthenticationFailed'));
  await container.setAccessPolicy(undefined, policy({}));
  assert.equal(await read(blob()), 'hello');
  await assert.rejects(blob().delete(), refused(403, 'AuthorizationPermissionMismatch'));
  await assert.rejects(blob({ expiresOn: minutes(5) }).getProperties(), refused(403, 'AuthenticationFailed'));
  await container.setAccessPolicy(undefined, policy({ expiresOn: minutes(-1) }));
  await assert.rejects(blob().getProperties(), refused(403, 'AuthenticationFailed'));
  await container.setAccessPolicy(undefined, []);
  await assert.rejects(blob().getProperties(), refused(403, 'AuthenticationFailed'));
});

test('public access', async () => {
  const anyone = new BlobServiceClient(server.blobUrl, new AnonymousCredential(), once);
  const outcomes = { undefined: [401, 401], blob: [200, 401], container: [200, 200] };
  for (const [access, [reading, listing]] of Object.entries(outcomes)) {
    const container = await freshContainer(access === 'undefined' ? {} : { access });
    const visited = anyone.getContainerClient(container.containerName);
    const status = (promise) => promise.then(() => 200, (error) => error.statusCode);
    assert.equal(await status(visited.getBlockBlobClient('dir/b').getProperties()), reading, access);
    assert.equal(await status(visited.listBlobsFlat().next()), listing, access);
    assert.equal(await status(visited.getBlockBlobClient('x').upload('x', 1)), 401, access);
  }
});

test('anonymous requests without a version learn nothing, newer ones are challenged', async () => {
  const container = await freshContainer();
  const plain = await fetch(`${server.blobUrl}/${container.containerName}/dir/b`);
  assert.equal(plain.status, 404);
  assert.equal(plain.headers.get('x-ms-error-code') ?? 'ResourceNotFound', 'ResourceNotFound');
  const challenged = await fetch(`${server.blobUrl}/${container.containerName}/dir/b`,
    { headers: { 'x-ms-version': '2021-12-02' } });
  assert.equal(challenged.status, 401);
  assert.equal(challenged.headers.get('x-ms-error-code'), 'NoAuthenticationInformation');
  assert.match(challenged.headers.get('www-authenticate'), /^Bearer authorization_uri=\S+ resource_id=\S+$/);
});

test('malformed credentials', async () => {
  for (const authorization of ['SharedKey', 'SharedKey x', 'Basic eHg6eXk=']) {
    const response = await fetch(`${server.blobUrl}?comp=list`,
      { headers: { authorization, 'x-ms-version': '2021-12-02', 'x-ms-date': new Date().toUTCString() } });
    assert.equal(response.status, 400, authorization);
    assert.equal(response.headers.get('x-ms-error-code'), 'InvalidAuthenticationInfo');
  }
});

test('tokens are refused without TLS, and a delegation key without a token', async () => {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = `${part({ alg: 'none' })}.${part({ aud: 'https://storage.azure.com', oid: crypto.randomUUID() })}.`;
  const response = await fetch(`${server.blobUrl}?comp=list`,
    { headers: { authorization: `Bearer ${token}`, 'x-ms-version': '2021-12-02' } });
  assert.equal(response.status, 403);
  assert.equal(response.headers.get('x-ms-error-code'), 'AuthenticationFailed');
  await assert.rejects(owner.getUserDelegationKey(minutes(-1), minutes(10)), refused(403, 'AuthenticationFailed'));
});
