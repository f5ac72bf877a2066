// Lists of paths through the SDKs of both APIs, in containers with directories and without; paths that were deleted and can
// be restored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { blobServer, credential, namesOf, once, refused, request, textOf } from './blob_fixtures.mjs';
import { all, lakeServer, pathsOf } from './lake_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, blobs, fresh } = await lakeServer();

const FILES = ['a/b/1', 'a/b/2', 'a/c', 'a-b', 'd/e', 'ä/ö'];
const IN_ORDER = ['a', 'a/b', 'a/b/1', 'a/b/2', 'a/c', 'a-b', 'd', 'd/e', 'ä', 'ä/ö'];

// The SDK forgets the account where it stands in the path.
async function renamed(fileSystem, from, to) {
  const headers = { 'x-ms-rename-source': `/${fileSystem.name}/${from}` };
  assert.equal((await request(server, 'PUT', `/${ACCOUNT}/${fileSystem.name}/${to}?mode=legacy`, { headers })).status, 201);
}

test('paths are listed name by name, a directory before what is in it', async () => {
  const { fileSystem } = await fresh(FILES);
  assert.deepEqual(await pathsOf(fileSystem, { recursive: true }), IN_ORDER);
  assert.deepEqual(await pathsOf(fileSystem), ['a', 'a-b', 'd', 'ä']);
  assert.deepEqual(await pathsOf(fileSystem, { path: 'a' }), ['a/b', 'a/c']);
  assert.deepEqual(await pathsOf(fileSystem, { path: 'a/b', recursive: true }), ['a/b/1', 'a/b/2']);
  await assert.rejects(pathsOf(fileSystem, { path: 'none' }), refused(404, 'PathNotFound'));
  assert.deepEqual(await pathsOf(fileSystem, { path: 'a-b' }), ['a-b']); // A file is listed as itself.
});

test('a path is listed with its properties', async () => {
  const { fileSystem } = await fresh();
  const file = fileSystem.getFileClient('d/f');
  await file.create({ permissions: '0640', umask: '0000' });
  await file.append('12345', 0, 5);
  await file.flush(5);
  await file.setExpiry('RelativeToNow', { timeToExpireInMs: 3_600_000 });
  const [directory, listed] = await all(fileSystem.listPaths({ recursive: true }));
  assert.equal(directory.isDirectory, true);
  assert.equal(listed.isDirectory, false);
  assert.equal(listed.contentLength, 5);
  assert.equal(listed.owner, '$superuser');
  assert.equal(listed.group, '$superuser');
  const shown = await file.getProperties();
  assert.equal(`"${listed.etag}"`, shown.etag);
  assert.deepEqual(listed.lastModified, shown.lastModified);
  assert.deepEqual(new Date(Math.floor(listed.createdOn / 1000) * 1000), shown.createdOn);
  assert.deepEqual(new Date(Math.floor(listed.expiresOn / 1000) * 1000), shown.expiresOn);
});

test('pages go on where they were, whatever is renamed or deleted meanwhile', async () => {
  const { fileSystem } = await fresh(FILES);
  const seen = [];
  let continuationToken;
  do {
    const { value } = await fileSystem.listPaths({ recursive: true }).byPage({ maxPageSize: 2, continuationToken }).next();
    const names = value.pathItems.map(({ name }) => name);
    assert.ok(names.length <= 2);
    seen.push(...names);
    if (names.includes('a/b/1')) await renamed(fileSystem, 'a', 'renamed');
    if (names.includes('d')) await fileSystem.getDirectoryClient('d').delete(true);
    continuationToken = value.continuation;
  } while (continuationToken);
  // "a" was renamed behind the page that went on from "a/b/2", and "d" was deleted before what is in it was listed.
  assert.deepEqual(seen, ['a', 'a/b', 'a/b/1', 'a/b/2', 'a-b', 'd', 'renamed', 'renamed/b', 'renamed/b/1', 'renamed/b/2', 'renamed/c', 'ä', 'ä/ö']);
});

test('the Blob API lists files and directories', async () => {
  const { container } = await fresh(FILES);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), IN_ORDER);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'a/' })), ['a/b', 'a/b/1', 'a/b/2', 'a/c']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'a/b/1' })), ['a/b/1']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'a' })), IN_ORDER.slice(0, 6));
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'none/x' })), []);
  const [directory] = await all(container.listBlobsFlat({ includeMetadata: true }));
  assert.deepEqual(directory.metadata, { hdi_isfolder: 'true' });
  assert.equal(directory.properties.contentLength, 0);
  const folded = await all(container.listBlobsByHierarchy('/'));
  assert.deepEqual(folded.map(({ kind, name }) => `${kind} ${name}`).sort(), ['blob a-b', 'prefix a/', 'prefix d/', 'prefix ä/']);
  assert.deepEqual(await namesOf(container.listBlobsByHierarchy('/', { prefix: 'a/' })), ['a/b/', 'a/c']);
  await assert.rejects(all(container.listBlobsByHierarchy('-')), refused(400, 'InvalidQueryParameterValue'));
  const paged = [];
  for await (const page of container.listBlobsFlat().byPage({ maxPageSize: 3 })) {
    assert.ok(page.segment.blobItems.length <= 3);
    paged.push(...page.segment.blobItems.map(({ name }) => name));
  }
  assert.deepEqual(paged, IN_ORDER);
});

test('what files and directories have more than blobs, by version', async () => {
  const { container } = await fresh(['d/f']);
  const list = async (query, version) =>
    (await request(server, 'GET', `/${ACCOUNT}/${container.containerName}?restype=container&comp=list${query}`, { headers: { 'x-ms-version': version } })).text;
  const newer = await list('&include=permissions', '2021-08-06');
  assert.match(newer, /<Name>d<\/Name>.*<Owner>\$superuser<\/Owner><Group>\$superuser<\/Group><Permissions>rwxr-x---<\/Permissions><Acl>user::rwx,group::r-x,other::---<\/Acl><ResourceType>directory<\/ResourceType><Content-Length>0</);
  assert.match(newer, /<Name>d\/f<\/Name>.*<ResourceType>file<\/ResourceType>/);
  assert.match(await list('&delimiter=/', '2021-08-06'), /<BlobPrefix><Name>d\/<\/Name><Properties>.*<ResourceType>directory<\/ResourceType>/);
  const older = await list('&delimiter=/', '2020-12-06');
  assert.match(older, /<BlobPrefix><Name>d\/<\/Name><\/BlobPrefix>/);
  assert.doesNotMatch(await list('', '2020-12-06'), /ResourceType/);
});

test('snapshots and blocks that wait are listed in their places', async () => {
  const { container } = await fresh(['d/f', 'd/h']);
  const snapshot = await container.getBlobClient('d/f').createSnapshot();
  await container.getBlockBlobClient('d/g').stageBlock(Buffer.from('1').toString('base64'), 'x', 1);
  const items = await all(container.listBlobsFlat({ includeSnapshots: true, includeUncommitedBlobs: true }));
  assert.deepEqual(items.map(({ name, snapshot: of }) => name + (of ? '@' : '')), ['d', 'd/f@', 'd/f', 'd/g', 'd/h']);
  assert.equal(items[1].snapshot, snapshot.snapshot);
});

test('without directories names are folded, and some are marked', async () => {
  const { server: flat, freshContainer } = await blobServer();
  const container = await freshContainer();
  for (const name of ['a/1', 'a/2/3', 'b']) await container.getBlockBlobClient(name).upload(name, name.length);
  await container.getBlockBlobClient('a/2').upload('', 0, { metadata: { hdi_isfolder: 'true' } });
  const fileSystem = new DataLakeServiceClient(flat.blobUrl, credential, once).getFileSystemClient(container.containerName);
  assert.deepEqual(await pathsOf(fileSystem, { recursive: true }), ['a/1', 'a/2', 'a/2/3', 'b']);
  const found = await all(fileSystem.listPaths());
  assert.deepEqual(found.map(({ name, isDirectory }) => name + (isDirectory ? '/' : '')), ['a/', 'b']);
  assert.equal(found[0].owner, undefined);
  const below = await all(fileSystem.listPaths({ path: 'a' }));
  assert.deepEqual(below.map(({ name, isDirectory }) => name + (isDirectory ? '/' : '')), ['a/1', 'a/2/']);
});

test('deleted paths are listed and restored, each deletion by its id', async () => {
  await blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
  try {
    const { fileSystem, container } = await fresh(['d/f', 'd/e/g']);
    const file = fileSystem.getFileClient('d/f');
    const { etag } = await file.getProperties();
    await file.delete();
    await container.getBlockBlobClient('d/f').upload('second', 6);
    await container.getBlobClient('d/f').delete();
    await fileSystem.getDirectoryClient('d/e').delete(true);
    const deleted = await all(fileSystem.listDeletedPaths());
    assert.deepEqual(deleted.map(({ name }) => name), ['d/e', 'd/f', 'd/f']);
    assert.equal(await fileSystem.getDirectoryClient('d/e').exists(), false);
    const { pathClient } = await fileSystem.undeletePath('d/f', deleted[1].deletionId);
    assert.equal((await pathClient.getProperties()).etag, etag);
    assert.equal(await textOf(container.getBlobClient('d/f')), 'd/f');
    await assert.rejects(fileSystem.undeletePath('d/f', deleted[2].deletionId), refused(409, 'BlobAlreadyExists'));
    await fileSystem.undeletePath('d/e', deleted[0].deletionId);
    assert.equal(await textOf(container.getBlobClient('d/e/g')), 'd/e/g');
    assert.deepEqual((await all(fileSystem.listDeletedPaths())).map(({ deletionId }) => deletionId), [deleted[2].deletionId]);
  } finally {
    await blobs.setProperties({ deleteRetentionPolicy: { enabled: false } });
  }
});
