// Data Lake on an account without hierarchical namespace, through its client: directories that are only names are made, told,
// renamed and deleted, in pages, between file systems, and across a death of the server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { DataLakeServiceClient } from '@azure/storage-file-datalake';
import { credential, namesOf, once, refused, request, textOf } from './blob_fixtures.mjs';
import { pathsOf } from './lake_fixtures.mjs';
import { ACCOUNT, Server } from './server.mjs';

let server, lake, blobs;
function connect(to) {
  server = to;
  lake = new DataLakeServiceClient(server.blobUrl, credential, once);
  blobs = new BlobServiceClient(server.blobUrl, credential, once);
}
connect(await Server.forThisFile());

let counter = 0;
async function fresh(files = []) {
  const fileSystem = lake.getFileSystemClient(`fs-${counter++}`);
  await fileSystem.create();
  const container = blobs.getContainerClient(fileSystem.name);
  await upload(container, files);
  return { fileSystem, container };
}
async function upload(container, files) {
  for (let i = 0; i < files.length; i += 50) {
    await Promise.all(files.slice(i, i + 50).map((file) => container.getBlockBlobClient(file).upload(file, Buffer.byteLength(file))));
  }
}
// The SDK forgets the account where it stands in the path. Goes on as long as the server says so, as Hadoop does.
async function rename(from, to, { query = 'mode=legacy', headers = {} } = {}) {
  let continuation;
  for (let pages = 1; ; pages++) {
    const more = continuation ? `&continuation=${encodeURIComponent(continuation)}` : '';
    const answer = await request(server, 'PUT', `/${ACCOUNT}/${to}?${query}${more}`,
      { headers: { 'x-ms-rename-source': `/${from}`, ...headers } });
    continuation = answer.headers['x-ms-continuation'];
    if (!continuation) return { ...answer, pages };
  }
}

test('a directory is renamed with all that lies below it, marked or implied', async () => {
  const { fileSystem, container } = await fresh(['src/1', 'src/2/3', 'srcs']);
  const { name } = fileSystem;
  assert.equal((await rename(`${name}/src`, `${name}/dst`, { headers: { 'if-none-match': '*' } })).status, 201);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['dst/1', 'dst/2/3', 'srcs']);
  assert.equal(await textOf(container.getBlobClient('dst/2/3')), 'src/2/3');
  const directory = fileSystem.getDirectoryClient('made');
  await directory.create({ metadata: { a: '1' } });
  await directory.getFileClient('f').create();
  const { etag } = await directory.getProperties();
  const moved = await rename(`${name}/made`, `${name}/dst/made`);
  assert.equal(moved.headers.etag, etag);
  const { metadata } = await fileSystem.getDirectoryClient('dst/made').getProperties();
  assert.deepEqual(metadata, { a: '1', hdi_isfolder: 'true' });
  assert.deepEqual(await pathsOf(fileSystem), ['dst', 'srcs']);
  assert.deepEqual(await pathsOf(fileSystem, { path: 'dst', recursive: true }), ['dst/1', 'dst/2/3', 'dst/made', 'dst/made/f']);
  for (const [from, to, status, code] of [
    ['none', 'x', 404, 'SourcePathNotFound'],
    ['dst', 'dst/2/x', 409, 'InvalidRenameSourcePath'],
    ['dst/2', 'dst/made', 409, 'PathAlreadyExists'],
    ['dst', 'srcs', 409, 'InvalidSourceOrDestinationResourceType'],
  ]) {
    const answer = await rename(`${name}/${from}`, `${name}/${to}`);
    assert.deepEqual([answer.status, answer.code], [status, code], `${from} to ${to}`);
  }
});

test('directories are told and deleted', async () => {
  const { fileSystem, container } = await fresh(['d/1', 'd/e/2', 'f']);
  const { name } = fileSystem;
  const told = async (path, query = 'action=getStatus') => {
    const { status, headers } = await request(server, 'HEAD', `/${ACCOUNT}/${name}/${path}?${query}`);
    return `${status} ${headers['x-ms-resource-type'] ?? headers['x-ms-error-code']}`;
  };
  assert.equal(await told('d'), '200 directory');
  assert.equal(await told('d/e'), '200 directory');
  assert.equal(await told('f'), '200 file');
  assert.equal(await told('none'), '404 PathNotFound');
  assert.equal(await told('', 'action=getAccessControl'), '400 HierarchicalNamespaceNotEnabled');
  await assert.rejects(fileSystem.getDirectoryClient('d').getAccessControl(), refused(400, 'HierarchicalNamespaceNotEnabled'));
  await assert.rejects(fileSystem.getDirectoryClient('d').delete(false), refused(409, 'DirectoryNotEmpty'));
  await assert.rejects(fileSystem.getDirectoryClient('none').delete(true), refused(404, 'PathNotFound'));
  const lease = container.getBlobClient('d/e/2').getBlobLeaseClient();
  await lease.acquireLease(-1);
  await assert.rejects(fileSystem.getDirectoryClient('d').delete(true), refused(412, 'LeaseIdMissing'));
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['d/1', 'd/e/2', 'f']);
  await lease.releaseLease();
  await fileSystem.getDirectoryClient('d').delete(true);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['f']);
});

test('a directory goes to another file system', async () => {
  const one = await fresh(['d/1', 'd/2/3', 'f']);
  const other = await fresh();
  assert.equal((await rename(`${one.fileSystem.name}/d`, `${other.fileSystem.name}/e`)).status, 201);
  assert.deepEqual(await namesOf(one.container.listBlobsFlat()), ['f']);
  assert.deepEqual(await namesOf(other.container.listBlobsFlat()), ['e/1', 'e/2/3']);
  assert.equal(await textOf(other.container.getBlobClient('e/2/3')), 'd/2/3');
});

test('a rename in pages that the server did not survive is taken up again', async () => {
  const files = Array.from({ length: 1000 }, (_, i) => `d/${1000 + i}`);
  for (const across of [false, true]) {
    const mortal = await Server.start();
    connect(mortal);
    const from = await fresh(files);
    const to = across ? await fresh() : from;
    const target = `${to.fileSystem.name}/e`;
    // A request that gives itself little time does a portion, and says how to go on.
    const first = await request(server, 'PUT', `/${ACCOUNT}/${target}?mode=legacy&timeout=1`,
      { headers: { 'x-ms-rename-source': `/${from.fileSystem.name}/d`, 'if-none-match': '*' } });
    assert.equal(first.status, 201);
    assert.ok(first.headers['x-ms-continuation']);
    const broken = rename(`${from.fileSystem.name}/d`, target).catch(() => {});
    await request(server, 'HEAD', `/${ACCOUNT}/${target}?action=getStatus`);
    await mortal.kill();
    await broken;
    const heir = await Server.start({ location: mortal.location });
    heir.ownsLocation = true;
    connect(heir);
    const left = blobs.getContainerClient(from.fileSystem.name);
    const entered = blobs.getContainerClient(to.fileSystem.name);
    const names = [...await namesOf(left.listBlobsFlat({ prefix: 'd/' })), ...await namesOf(entered.listBlobsFlat({ prefix: 'e/' }))];
    const seen = names.map((name) => name.slice(2)).sort();
    if (!across) assert.equal(seen.length, files.length);
    assert.equal(new Set(seen).size, files.length);
    const again = await rename(`${from.fileSystem.name}/d`, target, { headers: { 'if-none-match': '*' } });
    // The server may have died after the end.
    if (names.some((name) => name.startsWith('d/'))) assert.equal(again.status, 201);
    assert.deepEqual(await namesOf(left.listBlobsFlat({ prefix: 'd/' })), []);
    assert.equal((await namesOf(entered.listBlobsFlat({ prefix: 'e/' }))).length, files.length);
    assert.equal(await textOf(entered.getBlobClient('e/1999')), 'd/1999');
    await heir.stop();
  }
});
