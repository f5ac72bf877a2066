// Renames of files and directories: one step, whatever lies below.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import {
  AccountSASPermissions, AccountSASResourceTypes, AccountSASServices, ShareLeaseClient, ShareServiceClient,
  generateAccountSASQueryParameters,
} from '@azure/storage-file-share';
import { credential, entriesOf, fileServer, fileWith, once, refused, request, rootOf, textOf } from './file_fixtures.mjs';

const { server, freshShare } = await fileServer({ hostStyle: true });
const holding = (leaseId) => ({ leaseId });

test('a file keeps its id, content and metadata under its new name', async () => {
  const share = await freshShare();
  const file = await fileWith(rootOf(share), 'old', 'content', { metadata: { a: '1' }, fileHttpHeaders: { fileContentType: 'text/plain' } });
  const before = await file.getProperties();
  await share.createDirectory('d');
  await file.rename('d/new');
  const moved = share.getDirectoryClient('d').getFileClient('new');
  const after = await moved.getProperties();
  assert.deepEqual([after.fileId, after.metadata, after.contentType], [before.fileId, { a: '1' }, 'text/plain']);
  assert.equal(await textOf(moved), 'content');
  await assert.rejects(file.getProperties(), refused(404, 'ResourceNotFound'));
  assert.deepEqual(await entriesOf(rootOf(share)), ['d/']);
  await moved.rename('d/New');
  assert.deepEqual(await entriesOf(share.getDirectoryClient('d')), ['New']);
});

test('what is there is replaced only when asked', async () => {
  const share = await freshShare();
  const file = await fileWith(rootOf(share), 'a', 'from a');
  const there = await fileWith(rootOf(share), 'b', 'from b');
  await assert.rejects(file.rename('b'), refused(409, 'ResourceAlreadyExists'));
  assert.equal(await textOf(there), 'from b');
  await file.rename('b', { replaceIfExists: true });
  assert.equal(await textOf(there), 'from a');
  assert.deepEqual(await entriesOf(rootOf(share)), ['b']);
});

test('read-only targets are replaced only when told to ignore that', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'fixed', 'fixed');
  await request(server, 'PUT', `/${share.name}/fixed?comp=properties`, { headers: { 'x-ms-file-attributes': 'ReadOnly',
    'x-ms-file-creation-time': 'preserve', 'x-ms-file-last-write-time': 'preserve', 'x-ms-file-permission': 'preserve' } });
  const file = await fileWith(rootOf(share), 'a', 'new');
  await assert.rejects(file.rename('fixed', { replaceIfExists: true }), refused(409, 'ReadOnlyAttribute'));
  await file.rename('fixed', { replaceIfExists: true, ignoreReadOnly: true });
  assert.equal(await textOf(rootOf(share).getFileClient('fixed')), 'new');
});

test('leases of source and target', async () => {
  const share = await freshShare();
  const [file, there] = [await fileWith(rootOf(share), 'a', 'a'), await fileWith(rootOf(share), 'b', 'b')];
  const source = new ShareLeaseClient(file, randomUUID());
  const target = new ShareLeaseClient(there, randomUUID());
  await source.acquireLease();
  await target.acquireLease();
  const sourceLeaseAccessConditions = holding(source.leaseId);
  const destinationLeaseAccessConditions = holding(target.leaseId);
  await assert.rejects(file.rename('b', { replaceIfExists: true, destinationLeaseAccessConditions }), refused(412, 'LeaseIdMissing'));
  await assert.rejects(file.rename('b', { replaceIfExists: true, sourceLeaseAccessConditions }), refused(412, 'LeaseIdMissing'));
  await file.rename('b', { replaceIfExists: true, sourceLeaseAccessConditions, destinationLeaseAccessConditions });
  assert.equal(await textOf(there), 'a');
});

test('a directory moves with everything below', async () => {
  const share = await freshShare();
  const { directoryClient } = await share.createDirectory('a', { metadata: { a: '1' } });
  await directoryClient.createSubdirectory('inner');
  await fileWith(share.getDirectoryClient('a/inner'), 'file', 'deep');
  await share.createDirectory('b');
  await directoryClient.rename('b/c');
  assert.equal(await textOf(share.getDirectoryClient('b/c/inner').getFileClient('file')), 'deep');
  assert.deepEqual((await share.getDirectoryClient('b/c').getProperties()).metadata, { a: '1' });
  await assert.rejects(directoryClient.getProperties(), refused(404, 'ResourceNotFound'));
  await assert.rejects(share.getDirectoryClient('b').rename('b/c/d'), (error) => error.statusCode >= 400 && error.statusCode < 500);
  assert.deepEqual(await entriesOf(rootOf(share)), ['b/']);
});

test('targets that do not fit', async () => {
  const share = await freshShare();
  const file = await fileWith(rootOf(share), 'file', 'x');
  await share.createDirectory('d');
  await assert.rejects(file.rename('none/file'), refused(404, 'ParentNotFound'));
  await assert.rejects(file.rename('d', { replaceIfExists: true }), (error) => error.statusCode === 409);
  await assert.rejects(share.getDirectoryClient('d').rename('file'), refused(409, 'ResourceAlreadyExists'));
  await assert.rejects(rootOf(share).getFileClient('none').rename('x'), refused(404, 'ResourceNotFound'));
  await assert.rejects(share.getDirectoryClient('none').rename('x'), refused(404, 'ResourceNotFound'));
  const { status, code } = await request(server, 'PUT', `/${share.name}/x?comp=rename`);
  assert.deepEqual([status, code], [400, 'MissingRequiredHeader']);
  assert.deepEqual(await entriesOf(rootOf(share)), ['d/', 'file']);
});

// The SDK leaves the account out of the destination's path.
test('clients with the account in the path rename, with a key and with a SAS', async () => {
  const { name } = await freshShare();
  const owner = new ShareServiceClient(server.url('File'), credential, once);
  const token = generateAccountSASQueryParameters({
    expiresOn: new Date(Date.now() + 3600_000), permissions: AccountSASPermissions.parse('rwdlc'),
    services: AccountSASServices.parse('f').toString(), resourceTypes: AccountSASResourceTypes.parse('sco').toString(),
  }, credential).toString();
  const bearer = new ShareServiceClient(`${server.url('File')}?${token}`, undefined, once);
  for (const [client, to] of [[owner, 'first'], [bearer, 'second']]) {
    const share = client.getShareClient(name);
    const file = await fileWith(rootOf(share), 'from', to);
    await file.rename(`${to} file`, { contentType: 'text/x-tea' });
    await share.createDirectory('from');
    await share.getDirectoryClient('from').rename(`${to} directory`);
    const renamed = rootOf(share).getFileClient(`${to} file`);
    assert.equal(await textOf(renamed), to);
    assert.equal((await renamed.getProperties()).contentType, 'text/x-tea');
  }
  assert.deepEqual(await entriesOf(rootOf(owner.getShareClient(name))),
    ['first directory/', 'first file', 'second directory/', 'second file']);
});

test('racing renames: every file is in exactly one place', async () => {
  const share = await freshShare();
  const names = Array.from({ length: 8 }, (_, i) => `file-${i}`);
  for (const name of names) await fileWith(rootOf(share), name, name);
  await share.createDirectory('a');
  await share.createDirectory('b');
  await Promise.allSettled(names.flatMap((name) => ['a', 'b'].map((directory) =>
    rootOf(share).getFileClient(name).rename(`${directory}/${name}`))));
  const seen = [...(await entriesOf(share.getDirectoryClient('a'))), ...(await entriesOf(share.getDirectoryClient('b')))];
  assert.deepEqual(seen.sort(), names);
  assert.deepEqual(await entriesOf(rootOf(share)), ['a/', 'b/']);
});

test('two directories cannot be moved into each other', async () => {
  const share = await freshShare();
  for (let round = 0; round < 10; ++round) {
    await share.createDirectory(`x${round}`);
    await share.createDirectory(`y${round}`);
    const moves = await Promise.allSettled([
      share.getDirectoryClient(`x${round}`).rename(`y${round}/x${round}`),
      share.getDirectoryClient(`y${round}`).rename(`x${round}/y${round}`),
    ]);
    assert.equal(moves.filter(({ status }) => status === 'fulfilled').length, 1);
    const top = (await entriesOf(rootOf(share))).filter((name) => name.includes(String(round)) && name.length === `x${round}/`.length);
    assert.equal(top.length, 1);
  }
});
