// Access control of Data Lake through its client: lists set, modified and removed in trees, tokens of users with and without
// rights, roles, inheritance, the sticky bit, and user delegation SAS that name users.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import {
  AnonymousCredential, DataLakeServiceClient, DirectorySASPermissions, FileSystemSASPermissions, StorageSharedKeyCredential,
  generateDataLakeSASQueryParameters,
} from '@azure/storage-file-datalake';
import { ACCOUNT, KEY, Server, tlsFlags } from './server.mjs';

const id = () => crypto.randomUUID();
const [ann, bob, carl, reader, writer, boss, team, readers] = Array.from({ length: 8 }, id);
const tid = id();

const folder = await mkdtemp(path.join(tmpdir(), 'kyanite-roles-'));
after(() => rm(folder, { recursive: true }));
const config = path.join(folder, 'config.json');
await writeFile(config, JSON.stringify({ oauth: {
  roles: { [reader]: 'reader', [writer]: 'contributor', [boss]: 'owner', [readers]: 'reader' }, defaultRole: 'none' } }));
const server = await Server.forThisFile({
  flags: ['--oauth', 'basic', '--config', config, '--setting', 'hierarchicalNamespace=true', ...(await tlsFlags())] });

const once = { retryOptions: { maxTries: 1 } };
const key = new StorageSharedKeyCredential(ACCOUNT, KEY);
const owner = new DataLakeServiceClient(server.blobUrl, key, once);
const minutes = (count) => new Date(Date.now() + count * 60_000);
const seconds = (date) => Math.floor(date.getTime() / 1000);
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function token(oid, groups) {
  const claims = { aud: 'https://storage.azure.com', iss: `https://sts.windows.net/${tid}/`, nbf: seconds(minutes(-1)),
    exp: seconds(minutes(60)), oid, tid, groups };
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${Buffer.from('unchecked').toString('base64url')}`;
  return { getToken: async () => ({ token: text, expiresOnTimestamp: Date.now() + 3_600_000 }) };
}
const as = (oid, groups) => new DataLakeServiceClient(server.blobUrl, token(oid, groups), once);
const blobsAs = (oid, groups) => new BlobServiceClient(server.blobUrl, token(oid, groups), once);

const refusal = (error) => {
  assert.equal(error.statusCode, 403, error.message);
  assert.equal(error.code ?? error.response?.headers.get('x-ms-error-code'), 'AuthorizationPermissionMismatch');
  return true;
};
const refused = (promise, message) => assert.rejects(promise, refusal, message);

let systems = 0;
async function fileSystem(rootAcl) {
  const system = owner.getFileSystemClient(`lake${++systems}`);
  await system.create();
  if (rootAcl) await setAcl(system.getDirectoryClient(''), rootAcl);
  return system;
}
const parse = (text) => text.split(',').map((entry) => {
  const parts = entry.split(':');
  const defaultScope = parts[0] === 'default' && Boolean(parts.shift());
  const [accessControlType, entityId, bits] = parts;
  return { defaultScope, accessControlType, entityId,
    permissions: bits && { read: bits[0] === 'r', write: bits[1] === 'w', execute: bits[2] === 'x' } };
});
const print = ({ acl }) => acl.map(({ defaultScope, accessControlType, entityId, permissions: p }) =>
  `${defaultScope ? 'default:' : ''}${accessControlType}:${entityId}:${p.read ? 'r' : '-'}${p.write ? 'w' : '-'}${p.execute ? 'x' : '-'}`)
  .join(',');
const setAcl = (client, text) => client.setAccessControl(parse(text));
const aclOf = async (client) => print(await client.getAccessControl());
async function write(file, text = 'content') {
  await file.create();
  await file.append(text, 0, text.length);
  await file.flush(text.length);
}
const readAll = async (file) => (await file.readToBuffer()).toString();
const named = (who, bits, rest = 'user::rwx,group::---,other::---') => `${rest},user:${who}:${bits}`;

test('lists are set, modified and removed in a tree, batch by batch', async () => {
  const system = await fileSystem();
  const top = system.getDirectoryClient('top');
  for (const name of ['a/1', 'a/2', 'b/1', 'c']) await write(system.getFileClient(`top/${name}`));
  const batches = [];
  const counters = (result) => [result.counters.changedDirectoriesCount, result.counters.changedFilesCount,
    result.counters.failedChangesCount];
  const set = await top.setAccessControlRecursive(parse(named(ann, 'r-x')), { batchSize: 2,
    onProgress: ({ batchCounters }) => batches.push(batchCounters.changedDirectoriesCount + batchCounters.changedFilesCount) });
  assert.deepEqual(counters(set), [3, 4, 0]);
  assert.deepEqual(batches, [2, 2, 2, 1]);
  for (const name of ['top/a', 'top/a/2', 'top/c'])
    assert.equal(await aclOf(system.getFileClient(name)), `user::rwx,user:${ann}:r-x,group::---,mask::r-x,other::---`);

  // Interrupted after a batch, it goes on by its continuation.
  const begun = await top.updateAccessControlRecursive(parse(`user:${bob}:-w-`), { batchSize: 3, maxBatches: 1 });
  assert.deepEqual(counters(begun), [2, 1, 0]);
  assert.ok(begun.continuationToken);
  assert.equal(await aclOf(system.getFileClient('top/c')), `user::rwx,user:${ann}:r-x,group::---,mask::r-x,other::---`);
  const rest = await top.updateAccessControlRecursive(parse(`user:${bob}:-w-`), { continuationToken: begun.continuationToken });
  assert.deepEqual(counters(rest), [1, 3, 0]);
  assert.equal(await aclOf(system.getFileClient('top/c')),
    `user::rwx,user:${ann}:r-x,user:${bob}:-w-,group::---,mask::rwx,other::---`);

  const removed = await system.getDirectoryClient('').removeAccessControlRecursive(
    [{ accessControlType: 'user', entityId: ann, defaultScope: false }, { accessControlType: 'user', entityId: bob, defaultScope: false }]);
  assert.deepEqual(counters(removed), [4, 4, 0]);
  assert.equal(await aclOf(system.getFileClient('top/c')), 'user::rwx,group::---,mask::---,other::---');
});

test('users reach what lists let them, through both APIs', async () => {
  const system = await fileSystem(named(ann, '--x'));
  await write(system.getFileClient('d/f'), 'hello');
  const directory = system.getDirectoryClient('d');
  const file = system.getFileClient('d/f');
  const hers = as(ann).getFileSystemClient(system.name);
  const herBlob = blobsAs(ann).getContainerClient(system.name).getBlockBlobClient('d/f');
  await refused(readAll(hers.getFileClient('d/f')));
  await setAcl(directory, named(ann, '--x'));
  await refused(readAll(hers.getFileClient('d/f')));
  await refused(herBlob.downloadToBuffer());
  // To look takes no more than to come there.
  assert.equal((await hers.getFileClient('d/f').getProperties()).contentLength, 5);
  assert.equal((await hers.getFileClient('d/f').getAccessControl()).owner, '$superuser');
  await setAcl(file, named(ann, 'r--'));
  assert.equal(await readAll(hers.getFileClient('d/f')), 'hello');
  assert.equal((await herBlob.downloadToBuffer()).toString(), 'hello');
  await refused(herBlob.setMetadata({ a: '1' }));
  await refused(hers.getFileClient('d/f').append('x', 5, 1));
  await refused(herBlob.delete());
  await setAcl(file, named(ann, 'rw-'));
  await herBlob.setMetadata({ a: '1' });
  await hers.getFileClient('d/f').append('!', 5, 1);
  await hers.getFileClient('d/f').flush(6);
  await refused(herBlob.upload('x', 1));
  await refused(hers.getFileClient('d/new').create());
  await refused(as(bob).getFileSystemClient(system.name).getFileClient('d/f').getProperties());
  await setAcl(directory, named(ann, '-wx'));
  await hers.getFileClient('d/new').create();
  assert.equal((await hers.getFileClient('d/new').getAccessControl()).owner, ann);
  await herBlob.delete();
  const listed = async (client) => {
    const names = [];
    for await (const { name } of client) names.push(name);
    return names;
  };
  await refused(listed(hers.listPaths({ path: 'd' })));
  await refused(listed(blobsAs(ann).getContainerClient(system.name).listBlobsFlat({ prefix: 'd/' })));
  await setAcl(directory, named(ann, 'r-x'));
  assert.deepEqual(await listed(hers.listPaths({ path: 'd' })), ['d/new']);
  assert.deepEqual(await listed(blobsAs(ann).getContainerClient(system.name).listBlobsFlat({ prefix: 'd/' })), ['d/new']);
  await refused(listed(hers.listPaths()));
});

test('groups of the token count', async () => {
  const system = await fileSystem('user::rwx,group::---,other::---,group:' + team + ':r-x');
  await write(system.getFileClient('f'));
  await setAcl(system.getFileClient('f'), `user::rwx,group::---,other::---,group:${team}:r--`);
  const file = (groups) => as(bob, groups).getFileSystemClient(system.name).getFileClient('f');
  assert.equal(await readAll(file([id(), team])), 'content');
  await refused(readAll(file([id()])));
  await refused(readAll(file()));
});

test('roles come first', async () => {
  const system = await fileSystem('user::rwx,group::---,other::---');
  await write(system.getFileClient('d/f'));
  const file = (oid, groups) => as(oid, groups).getFileSystemClient(system.name).getFileClient('d/f');
  for (const [oid, groups] of [[reader], [bob, [readers]], [writer], [boss]]) assert.equal(await readAll(file(oid, groups)), 'content');
  for (const [oid, groups] of [[reader], [bob, [readers]], [bob]]) await refused(file(oid, groups).create());
  await file(writer).create();
  await refused(file(reader).setPermissions({ owner: {}, group: {}, other: {} }));
  // Who made it owns it.
  assert.equal((await file(boss).getAccessControl()).owner, writer);
  await refused(file(writer).setPermissions({ owner: { read: true }, group: {}, other: {} }));
  await file(boss).setAccessControl(parse('user::rwx,group::---,other::---'), { owner: bob });
  assert.equal((await file(boss).getAccessControl()).owner, bob);

  // What has no paths knows roles only.
  await refused(as(bob).getFileSystemClient('another').create());
  await refused(as(reader).getFileSystemClient('another').create());
  await refused(blobsAs(bob).getProperties());
  await refused(as(bob).getUserDelegationKey(minutes(-1), minutes(10)));
  await blobsAs(reader).getProperties();
  await as(writer).getFileSystemClient('another').create();
  assert.equal((await owner.getFileSystemClient('another').getDirectoryClient('').getAccessControl()).owner, writer);
});

test('what is made inherits, and umask takes away', async () => {
  const system = await fileSystem();
  await setAcl(system.getDirectoryClient(''),
    `user::rwx,group::r-x,other::---,default:user::rwx,default:group::r-x,default:other::r--,default:user:${ann}:rw-`);
  await system.getFileClient('below/f').create();
  assert.equal(await aclOf(system.getFileClient('below/f')), `user::rwx,user:${ann}:rw-,group::r-x,mask::rwx,other::---`);
  assert.equal(await aclOf(system.getDirectoryClient('below')),
    `user::rwx,user:${ann}:rw-,group::r-x,mask::rwx,other::---,` +
    `default:user::rwx,default:user:${ann}:rw-,default:group::r-x,default:mask::rwx,default:other::r--`);
  const plain = await fileSystem();
  await plain.getFileClient('f').create({ permissions: '0777', umask: '0057' });
  assert.equal(await aclOf(plain.getFileClient('f')), 'user::rwx,group::-w-,other::---');
  await plain.getFileClient('g').create();
  assert.equal(await aclOf(plain.getFileClient('g')), 'user::rw-,group::r--,other::---');
});

test('the sticky bit keeps what is another\'s', async () => {
  const system = await fileSystem('user::rwx,group::rwx,other::rwx');
  const directory = system.getDirectoryClient('shared');
  await directory.create();
  const all = { read: true, write: true, execute: true };
  await directory.setPermissions({ owner: all, group: all, other: all, stickyBit: true });
  const his = as(bob).getFileSystemClient(system.name).getFileClient('shared/his');
  await write(his);
  const asAnn = as(ann).getFileSystemClient(system.name).getFileClient('shared/his');
  await refused(asAnn.delete());
  await refused(asAnn.move('taken'));
  await refused(asAnn.create());
  await refused(blobsAs(ann).getContainerClient(system.name).getBlobClient('shared/his').delete());
  await his.move('shared/moved');
  await as(bob).getFileSystemClient(system.name).getFileClient('shared/moved').delete();
});

test('a tree is deleted only by who has all rights in it', async () => {
  const system = await fileSystem('user::rwx,group::---,other::rwx');
  await write(system.getFileClient('tree/a/f'));
  const everybody = 'user::rwx,group::---,other::rwx';
  await setAcl(system.getDirectoryClient('tree'), everybody);
  const tree = as(ann).getFileSystemClient(system.name).getDirectoryClient('tree');
  await refused(tree.delete(true));
  await setAcl(system.getDirectoryClient('tree/a'), everybody);
  await tree.delete(true);
  assert.equal(await system.getDirectoryClient('tree').exists(), false);
});

test('user delegation SAS: of whom, for whom', async () => {
  const system = await fileSystem(named(ann, '-wx'));
  await write(system.getFileClient('f'), 'secret');
  const keys = { boss: await as(boss).getUserDelegationKey(minutes(-5), minutes(30)),
    reader: await as(reader).getUserDelegationKey(minutes(-5), minutes(30)) };
  const all = FileSystemSASPermissions.parse('racwdlmeop');
  const sas = (signer, changes) => {
    const query = generateDataLakeSASQueryParameters({ fileSystemName: system.name, permissions: all, expiresOn: minutes(10),
      ...changes }, signer, ACCOUNT);
    return new DataLakeServiceClient(`${server.blobUrl}?${query}`, new AnonymousCredential(), once)
      .getFileSystemClient(system.name);
  };
  // By whom it is signed: no more than they may.
  assert.equal(await readAll(sas(keys.boss).getFileClient('f')), 'secret');
  await sas(keys.boss).getFileClient('boss').create();
  assert.equal((await system.getFileClient('boss').getAccessControl()).owner, boss);
  assert.equal(await readAll(sas(keys.reader).getFileClient('f')), 'secret');
  await refused(sas(keys.reader).getFileClient('g').create());
  // No more than it says, either.
  await refused(sas(keys.boss, { permissions: FileSystemSASPermissions.parse('l') }).getFileClient('f').readToBuffer());
  // For one who is trusted: it owns what it makes.
  const trusted = sas(keys.boss, { preauthorizedAgentObjectId: carl });
  await trusted.getFileClient('carls').create();
  assert.equal((await system.getFileClient('carls').getAccessControl()).owner, carl);
  assert.equal(await readAll(trusted.getFileClient('f')), 'secret');
  // For one who is not: held to access control.
  const checked = sas(keys.boss, { agentObjectId: ann });
  await refused(readAll(checked.getFileClient('f')));
  await checked.getFileClient('hers').create();
  assert.equal((await system.getFileClient('hers').getAccessControl()).owner, ann);
  await setAcl(system.getFileClient('f'), named(ann, 'r--'));
  assert.equal(await readAll(checked.getFileClient('f')), 'secret');
  await refused(sas(keys.boss, { agentObjectId: bob }).getFileClient('f').readToBuffer());
  // Only owners sign for others.
  await refused(sas(keys.reader, { preauthorizedAgentObjectId: carl }).getFileClient('f').readToBuffer());
});

test('failures in a tree are named, and it goes on past them if told to', async () => {
  const system = await fileSystem('user::--x,group::--x,other::--x');
  const top = system.getDirectoryClient('top');
  for (const name of ['top/hers/1', 'top/his', 'top/last']) await system.getFileClient(name).create();
  const permissions = { owner: { read: true, write: true, execute: true }, group: {}, other: {} };
  for (const name of ['top', 'top/hers', 'top/hers/1', 'top/last']) await system.getFileClient(name).setPermissions(permissions, { owner: ann });
  const signer = await as(boss).getUserDelegationKey(minutes(-5), minutes(30));
  const query = generateDataLakeSASQueryParameters({ fileSystemName: system.name, expiresOn: minutes(10), agentObjectId: ann,
    permissions: FileSystemSASPermissions.parse('racwdlmeop') }, signer, ACCOUNT);
  const hers = new DataLakeServiceClient(`${server.blobUrl}?${query}`, new AnonymousCredential(), once)
    .getFileSystemClient(system.name).getDirectoryClient('top');
  const stopped = await hers.setAccessControlRecursive(parse('user::rwx,group::r--,other::---'));
  assert.deepEqual(stopped.counters, { changedDirectoriesCount: 2, changedFilesCount: 1, failedChangesCount: 1 });
  const failed = [];
  const done = await hers.setAccessControlRecursive(parse('user::rwx,group::r--,other::---'), { continueOnFailure: true,
    batchSize: 2, onProgress: ({ batchFailures }) => failed.push(...batchFailures) });
  assert.deepEqual(done.counters, { changedDirectoriesCount: 2, changedFilesCount: 2, failedChangesCount: 1 });
  assert.deepEqual(failed.map(({ name, isDirectory, message }) => [name, isDirectory, message]), [['top/his', false,
    'This request is not authorized to perform this operation using this permission.']]);
  assert.equal((await top.getAccessControl()).owner, ann);
});

test('a SAS for a directory stays in it', async () => {
  const system = await fileSystem();
  for (const name of ['in/d/f', 'in/e', 'out/f']) await write(system.getFileClient(name));
  const query = generateDataLakeSASQueryParameters({ fileSystemName: system.name, pathName: 'in', isDirectory: true,
    permissions: DirectorySASPermissions.parse('racwdlmeop'), expiresOn: minutes(10) }, key);
  const lent = new DataLakeServiceClient(`${server.blobUrl}?${query}`, new AnonymousCredential(), once)
    .getFileSystemClient(system.name);
  const beyond = (promise) => assert.rejects(promise, (error) => {
    assert.equal((error.innerError ?? error).statusCode, 403, error.message);
    return true;
  });
  assert.equal(await readAll(lent.getFileClient('in/d/f')), 'content');
  await beyond(readAll(lent.getFileClient('out/f')));
  const names = [];
  for await (const { name } of lent.listPaths({ path: 'in', recursive: true })) names.push(name);
  assert.deepEqual(names, ['in/d', 'in/d/f', 'in/e']);
  await beyond(lent.listPaths({ path: 'out' }).next());
  await beyond(lent.listPaths().next());
  await lent.getDirectoryClient('in').updateAccessControlRecursive(parse(`user:${ann}:r--`));
  await beyond(lent.getDirectoryClient('out').updateAccessControlRecursive(parse(`user:${ann}:r--`)));
  await beyond(lent.getDirectoryClient('out').delete(true));
  await lent.getDirectoryClient('in/d').delete(true);
  assert.equal(await system.getFileClient('in/d/f').exists(), false);
});
