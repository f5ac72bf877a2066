// Permissions: security descriptors that a share keeps and its files refer to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileServer, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();
const SDDL = 'O:S-1-5-21-1-2-3-1001G:S-1-5-21-1-2-3-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-4-5-6-7)';
const path = (share) => `/${share.name}?restype=share&comp=filepermission`;

test('a permission is found by its key', async () => {
  const share = await freshShare();
  const { filePermissionKey } = await share.createPermission(SDDL);
  assert.match(filePermissionKey, /^\d+\*\d+$/);
  assert.equal((await share.getPermission(filePermissionKey)).permission, SDDL);
  // The same permission is kept once.
  assert.equal((await share.createPermission(SDDL)).filePermissionKey, filePermissionKey);
});

test('files and directories refer to it', async () => {
  const share = await freshShare();
  const { filePermissionKey } = await share.createPermission(SDDL);
  const file = rootOf(share).getFileClient('file');
  const byKey = await file.create(1, { filePermissionKey });
  assert.equal(byKey.filePermissionKey, filePermissionKey);
  const byText = await rootOf(share).getFileClient('other').create(1, { filePermission: SDDL });
  assert.equal(byText.filePermissionKey, filePermissionKey);
  const { directoryClient } = await share.createDirectory('d');
  const plain = await directoryClient.getProperties();
  assert.notEqual(plain.filePermissionKey, filePermissionKey);
  assert.match((await share.getPermission(plain.filePermissionKey)).permission, /^O:SYG:SYD:/);
  await directoryClient.setProperties({ filePermission: SDDL });
  assert.equal((await directoryClient.getProperties()).filePermissionKey, filePermissionKey);
  // Setting something else leaves it.
  await file.setHttpHeaders({ fileContentType: 'text/plain' });
  assert.equal((await file.getProperties()).filePermissionKey, filePermissionKey);
});

test('the binary form', async () => {
  const share = await freshShare();
  const { filePermissionKey } = await share.createPermission(SDDL);
  const binary = await share.getPermission(filePermissionKey, { filePermissionFormat: 'Binary' });
  assert.notEqual(binary.permission, SDDL);
  assert.equal(Buffer.from(binary.permission, 'base64')[0], 1);
  const again = await share.createPermission({ permission: binary.permission, format: 'Binary' });
  assert.equal(again.filePermissionKey, filePermissionKey);
  await assert.rejects(share.createPermission({ permission: 'AAAA', format: 'Binary' }), refused(400, 'FileInvalidPermission'));
});

test('bad permissions and keys', async () => {
  const share = await freshShare();
  const file = rootOf(share).getFileClient('file');
  for (const text of ['abcde', 'O:SYG:SY', 'O:SYG:SYD:(A;;FA;;;', '']) {
    await assert.rejects(share.createPermission(text), refused(400, 'FileInvalidPermission'), text);
  }
  await assert.rejects(file.create(1, { filePermission: 'abcde' }), refused(400, 'FileInvalidPermission'));
  assert.equal(await file.exists(), false);
  await assert.rejects(share.getPermission('abcde'), refused(400, 'InvalidHeaderValue'));
  await assert.rejects(share.getPermission('1*2'), refused(400, 'FileInvalidPermissionKey'));
  await assert.rejects(file.create(1, { filePermissionKey: '1*2' }), refused(400, 'FileInvalidPermissionKey'));
  await assert.rejects(service.getShareClient('none').createPermission(SDDL), refused(404, 'ShareNotFound'));
  await assert.rejects(service.getShareClient('none').getPermission('1*2'), refused(404, 'ShareNotFound'));
  const raw = async (method, options) => {
    const { status, code } = await request(server, method, path(share), options);
    return [status, code];
  };
  assert.deepEqual(await raw('GET'), [400, 'MissingRequiredHeader']);
  const json = { 'content-type': 'application/json' };
  for (const body of ['', '{', '[]', '{"permission":1}', '{"permission":"x","format":"stone"}']) {
    assert.deepEqual(await raw('PUT', { headers: json, body }), [400, 'InvalidInput'], body);
  }
});
