// Directories through the SDK: their life, properties, metadata, and what may lie where.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf, fileServer, fileWith, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();

test('a directory is created once, found, and deleted once', async () => {
  const share = await freshShare();
  const directory = share.getDirectoryClient('life');
  assert.equal(await directory.exists(), false);
  const created = await directory.create({ metadata: { colour: 'blue' } });
  assert.match(created.etag, /^"0x[0-9A-F]+"$/);
  assert.equal(created.fileAttributes, 'Directory');
  assert.equal(created.fileParentId, '0');
  assert.match(created.fileId, /^\d+$/);
  assert.match(created.filePermissionKey, /^\d+\*\d+$/);
  const shown = await directory.getProperties();
  assert.equal(shown.etag, created.etag);
  assert.deepEqual(shown.metadata, { colour: 'blue' });
  assert.deepEqual([shown.fileId, shown.fileAttributes], [created.fileId, 'Directory']);
  assert.deepEqual(shown.fileCreatedOn, created.fileCreationOn ?? created.fileCreatedOn);
  await assert.rejects(directory.create(), refused(409, 'ResourceAlreadyExists'));
  assert.equal((await directory.createIfNotExists()).succeeded, false);
  await directory.delete();
  await assert.rejects(directory.delete(), refused(404, 'ResourceNotFound'));
  await assert.rejects(directory.getProperties(), refused(404, 'ResourceNotFound'));
  assert.equal((await directory.deleteIfExists()).succeeded, false);
});

test('parents must exist and are told to the children', async () => {
  const share = await freshShare();
  const deep = share.getDirectoryClient('a/b/c');
  await assert.rejects(deep.create(), refused(404, 'ParentNotFound'));
  await assert.rejects(share.getDirectoryClient('a/b').getProperties(), refused(404, 'ParentNotFound'));
  const { fileId } = await share.getDirectoryClient('a').create();
  const { fileParentId } = await share.getDirectoryClient('a/b').create();
  assert.equal(fileParentId, fileId);
  await deep.create();
  assert.equal(await deep.exists(), true);
  await assert.rejects(rootOf(share).getDirectoryClient('x').getFileClient('f').create(1), refused(404, 'ParentNotFound'));
  await assert.rejects(service.getShareClient('none').getDirectoryClient('a').create(), refused(404, 'ShareNotFound'));
});

test('only empty directories are deleted', async () => {
  const share = await freshShare();
  const { directoryClient } = await share.createDirectory('d');
  const { directoryClient: inner } = await directoryClient.createSubdirectory('inner');
  await assert.rejects(directoryClient.delete(), refused(409, 'DirectoryNotEmpty'));
  await inner.delete();
  const file = await fileWith(directoryClient, 'file', 'x');
  await assert.rejects(directoryClient.delete(), refused(409, 'DirectoryNotEmpty'));
  await file.delete();
  await directoryClient.delete();
  assert.deepEqual(await entriesOf(rootOf(share)), []);
});

test('deletions race against creations: no file is ever without its directory', async () => {
  const share = await freshShare();
  for (let round = 0; round < 20; ++round) {
    const directory = share.getDirectoryClient(`race-${round}`);
    await directory.create();
    const file = directory.getFileClient('file');
    const [created, deleted] = await Promise.allSettled([file.create(1), directory.delete()]);
    const there = await directory.exists();
    assert.equal(await file.exists(), there && created.status === 'fulfilled');
    if (deleted.status === 'fulfilled') assert.equal(there, false);
    else assert.equal(deleted.reason.code ?? deleted.reason.details?.errorCode, 'DirectoryNotEmpty');
    assert.ok(created.status === 'fulfilled' || deleted.status === 'fulfilled');
  }
});

test('a file and a directory cannot share a name', async () => {
  const share = await freshShare();
  await share.createDirectory('name');
  await assert.rejects(rootOf(share).getFileClient('name').create(1), refused(409, 'ResourceTypeMismatch'));
  await assert.rejects(rootOf(share).getFileClient('NAME').create(1), refused(409, 'ResourceTypeMismatch'));
  await fileWith(rootOf(share), 'file', 'x');
  await assert.rejects(share.getDirectoryClient('file').create(), refused(409, 'ResourceAlreadyExists'));
  await assert.rejects(share.getDirectoryClient('file/below').create(), refused(404, 'ParentNotFound'));
});

test('SMB properties are set, kept, and left alone', async () => {
  const share = await freshShare();
  const [creationTime, lastWriteTime] = [new Date('2019-01-02T03:04:05.678Z'), new Date('2020-01-02T03:04:05.678Z')];
  const directory = share.getDirectoryClient('smb');
  await directory.create({ creationTime, lastWriteTime, fileAttributes: undefined });
  let shown = await directory.getProperties();
  assert.deepEqual([shown.fileCreatedOn, shown.fileLastWriteOn], [creationTime, lastWriteTime]);
  const before = shown.etag;
  const changed = new Date('2021-01-01T00:00:00.000Z');
  const set = await directory.setProperties({ lastWriteTime: changed });
  assert.notEqual(set.etag, before);
  shown = await directory.getProperties();
  assert.deepEqual([shown.fileCreatedOn, shown.fileLastWriteOn], [creationTime, changed]);
  const attributes = await request(server, 'PUT', `/${share.name}/smb?restype=directory&comp=properties`, {
    headers: { 'x-ms-file-attributes': 'Hidden|Directory', 'x-ms-file-creation-time': 'preserve',
      'x-ms-file-last-write-time': 'preserve', 'x-ms-file-permission': 'preserve' },
  });
  assert.equal(attributes.status, 200, attributes.text);
  shown = await directory.getProperties();
  assert.deepEqual(shown.fileAttributes.split('|').map((word) => word.trim()).sort(), ['Directory', 'Hidden']);
  assert.deepEqual(shown.fileLastWriteOn, changed);
  const bad = [{ 'x-ms-file-attributes': 'Purple' }, { 'x-ms-file-creation-time': 'yesterday' }];
  for (const headers of bad) {
    const answer = await request(server, 'PUT', `/${share.name}/smb?restype=directory&comp=properties`, { headers });
    assert.deepEqual([answer.status, answer.code], [400, 'InvalidHeaderValue']);
  }
  await assert.rejects(share.getDirectoryClient('none').setProperties({}), refused(404, 'ResourceNotFound'));
});

test('metadata replaces what was there', async () => {
  const share = await freshShare();
  const { directoryClient } = await share.createDirectory('d', { metadata: { a: '1' } });
  const { etag } = await directoryClient.setMetadata({ b: '2' });
  const shown = await directoryClient.getProperties();
  assert.deepEqual([shown.metadata, shown.etag], [{ b: '2' }, etag]);
  for (const method of ['GET', 'HEAD']) {
    const answer = await request(server, method, `/${share.name}/d?restype=directory&comp=metadata`);
    assert.equal(answer.headers['x-ms-meta-b'], '2');
  }
  await assert.rejects(share.getDirectoryClient('none').setMetadata({ a: '1' }), refused(404, 'ResourceNotFound'));
});

test('the root is always there', async () => {
  const share = await freshShare();
  assert.equal(await rootOf(share).exists(), true);
  const shown = await rootOf(share).getProperties();
  assert.equal(shown.fileId, '0');
  await rootOf(share).setMetadata({ root: 'yes' });
  assert.deepEqual((await rootOf(share).getProperties()).metadata, { root: 'yes' });
  await assert.rejects(rootOf(share).create(), (error) => error.statusCode >= 400 && error.statusCode < 500);
  await assert.rejects(rootOf(share).delete(), (error) => error.statusCode >= 400 && error.statusCode < 500);
  assert.equal(await rootOf(share).exists(), true);
});

test('250 levels deep, and no further', async () => {
  const share = await freshShare();
  let path = '';
  for (let level = 1; level <= 249; ++level) {
    path += `${path && '/'}${level % 10}`;
    await share.getDirectoryClient(path).create();
  }
  const file = await fileWith(share.getDirectoryClient(path), 'f', 'deep');
  assert.equal((await file.getProperties()).contentLength, 4);
  await share.getDirectoryClient(`${path}/d`).create();
  await assert.rejects(share.getDirectoryClient(`${path}/d/e`).create(), refused(400, 'InvalidFileOrDirectoryPathName'));
});
