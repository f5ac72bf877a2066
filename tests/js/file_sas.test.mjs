// Who may do what with shares and files: account SAS, share and file SAS, stored policies, nobody.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, AnonymousCredential, FileSASPermissions,
  ShareSASPermissions, ShareServiceClient, StorageSharedKeyCredential, generateAccountSASQueryParameters,
  generateFileSASQueryParameters,
} from '@azure/storage-file-share';
import { credential, entriesOf, fileServer, fileWith, once, refused, rootOf, textOf } from './file_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, freshShare } = await fileServer();
const minutes = (count) => new Date(Date.now() + count * 60_000);
const withToken = (token) => new ShareServiceClient(`${server.url('File')}?${token}`, new AnonymousCredential(), once);
const denied = (error) => {
  assert.equal(error.statusCode, 403, error.message);
  return true;
};
const accountToken = (options) => generateAccountSASQueryParameters({ expiresOn: minutes(10),
  permissions: AccountSASPermissions.parse('rwdlc'), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
  services: AccountSASServices.parse('f').toString(), ...options }, credential).toString();
const serviceToken = (values) => generateFileSASQueryParameters({ expiresOn: minutes(10), ...values }, credential).toString();

test('an account token does what its letters say', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'file', 'text');
  const all = withToken(accountToken()).getShareClient(share.name);
  assert.equal(await textOf(rootOf(all).getFileClient('file')), 'text');
  await all.setMetadata({ a: '1' });
  await rootOf(all).getFileClient('file').delete();
  const reader = withToken(accountToken({ permissions: AccountSASPermissions.parse('r') })).getShareClient(share.name);
  await reader.getProperties();
  await assert.rejects(rootOf(reader).getFileClient('new').create(1), refused(403, 'AuthorizationPermissionMismatch'));
  const others = withToken(accountToken({ services: AccountSASServices.parse('b').toString() })).getShareClient(share.name);
  await assert.rejects(others.getProperties(), refused(403, 'AuthorizationServiceMismatch'));
  const objects = withToken(accountToken({ resourceTypes: AccountSASResourceTypes.parse('o').toString() }));
  await assert.rejects(objects.getShareClient(share.name).getProperties(), refused(403, 'AuthorizationResourceTypeMismatch'));
});

test('a share token reaches its files, a file token its file', async () => {
  const [share, other] = [await freshShare(), await freshShare()];
  for (const each of [share, other]) await fileWith(rootOf(each), 'file', 'text');
  await fileWith(rootOf(share), 'second', 'text');
  const token = serviceToken({ shareName: share.name, permissions: ShareSASPermissions.parse('rl') });
  const guest = withToken(token).getShareClient(share.name);
  assert.equal(await textOf(rootOf(guest).getFileClient('file')), 'text');
  assert.deepEqual(await entriesOf(rootOf(guest)), ['file', 'second']);
  await assert.rejects(rootOf(guest).getFileClient('file').delete(), denied);
  await assert.rejects(rootOf(guest).getFileClient('file').uploadRange('x', 0, 1), denied);
  await assert.rejects(withToken(token).getShareClient(other.name).rootDirectoryClient.getFileClient('file').download(), denied);
  await assert.rejects(guest.delete(), denied);

  const one = withToken(serviceToken({ shareName: share.name, filePath: 'file', permissions: FileSASPermissions.parse('rwd') }))
    .getShareClient(share.name);
  await rootOf(one).getFileClient('file').uploadRange('TEXT', 0, 4);
  assert.equal(await textOf(rootOf(one).getFileClient('file')), 'TEXT');
  await assert.rejects(rootOf(one).getFileClient('second').download(), denied);
  await rootOf(one).getFileClient('file').delete();
});

test('a stored policy can be changed after the token was given', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'file', 'text');
  const policy = (permissions, expiresOn) => [{ id: 'policy', accessPolicy: { permissions, startsOn: minutes(-5), expiresOn } }];
  await share.setAccessPolicy(policy('r', minutes(10)));
  const token = generateFileSASQueryParameters({ shareName: share.name, identifier: 'policy' }, credential).toString();
  const file = withToken(token).getShareClient(share.name).rootDirectoryClient.getFileClient('file');
  assert.equal(await textOf(file), 'text');
  await assert.rejects(file.delete(), denied);
  await share.setAccessPolicy(policy('r', minutes(-1)));
  await assert.rejects(file.download(), denied);
  await share.setAccessPolicy([]);
  await assert.rejects(file.download(), denied);
});

test('expired, not yet valid, forged and missing credentials', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'file', 'text');
  const values = { shareName: share.name, permissions: ShareSASPermissions.parse('r') };
  const tokens = [
    serviceToken({ ...values, expiresOn: minutes(-1) }),
    serviceToken({ ...values, startsOn: minutes(5) }),
    serviceToken(values).replace(/sig=[^&]+/, 'sig=AAAA'),
    serviceToken(values).replace('sp=r', 'sp=rw'),
    serviceToken({ ...values, ipRange: { start: '1.2.3.4' } }),
  ];
  for (const token of tokens) {
    const file = withToken(token).getShareClient(share.name).rootDirectoryClient.getFileClient('file');
    await assert.rejects(file.download(), denied, token);
  }
  const anonymous = new ShareServiceClient(server.url('File'), new AnonymousCredential(), once);
  await assert.rejects(anonymous.getShareClient(share.name).getProperties(), (error) => [401, 403, 404].includes(error.statusCode));
  const wrong = new ShareServiceClient(server.url('File'), new StorageSharedKeyCredential(ACCOUNT, 'AAAA'), once);
  await assert.rejects(wrong.getShareClient(share.name).getProperties(), refused(403, 'AuthenticationFailed'));
});
