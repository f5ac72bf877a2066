// List Directories and Files: order, prefix, pages, details.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf, fileServer, fileWith, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();
const share = await freshShare();
const { directoryClient: directory } = await share.createDirectory('listed');
for (const name of ['b-file', 'a-dir', 'C-file', 'd-dir', 'e']) {
  if (name.endsWith('dir')) await directory.createSubdirectory(name);
  else await fileWith(directory, name, name);
}
const everything = ['a-dir/', 'b-file', 'C-file', 'd-dir/', 'e'];

test('in the order of names, ignoring case', async () => {
  assert.deepEqual(await entriesOf(directory), everything);
  const { text } = await request(server, 'GET', `/${share.name}/listed?restype=directory&comp=list`);
  assert.deepEqual([...text.matchAll(/<Name>([^<]+)/g)].map(([, name]) => name), everything.map((name) => name.replace('/', '')));
  assert.deepEqual(await entriesOf(share.getDirectoryClient('listed/a-dir')), []);
  await assert.rejects(entriesOf(share.getDirectoryClient('none')), refused(404, 'ResourceNotFound'));
  await assert.rejects(entriesOf(service.getShareClient('none').rootDirectoryClient), refused(404, 'ShareNotFound'));
  await assert.rejects(entriesOf(share.getDirectoryClient('listed/e')), refused(404, 'ResourceNotFound'));
});

test('prefix', async () => {
  assert.deepEqual(await entriesOf(directory, { prefix: 'c' }), ['C-file']);
  assert.deepEqual(await entriesOf(directory, { prefix: 'A-' }), ['a-dir/']);
  assert.deepEqual(await entriesOf(directory, { prefix: 'zzz' }), []);
});

test('pages of every size hold everything once', async () => {
  for (const maxPageSize of [1, 2, 3, 5, 6]) {
    const names = [];
    for await (const page of directory.listFilesAndDirectories().byPage({ maxPageSize })) {
      const items = [...page.segment.directoryItems.map(({ name }) => `${name}/`), ...page.segment.fileItems.map(({ name }) => name)];
      assert.ok(items.length <= maxPageSize);
      names.push(...items);
    }
    assert.deepEqual(names.sort(), [...everything].sort());
  }
});

test('pages stay right while entries come and go', async () => {
  const { directoryClient } = await share.createDirectory('moving');
  for (const name of ['a', 'c', 'e', 'g']) await fileWith(directoryClient, name, '');
  const seen = [];
  for await (const page of directoryClient.listFilesAndDirectories().byPage({ maxPageSize: 1 })) {
    seen.push(...page.segment.fileItems.map(({ name }) => name));
    if (seen.length === 1) {
      await directoryClient.getFileClient('c').delete();
      await fileWith(directoryClient, 'b', '');
      await fileWith(directoryClient, 'f', '');
    }
  }
  assert.deepEqual(seen.filter((name) => name !== 'b'), ['a', 'e', 'f', 'g']);
});

test('details when they are asked for', async () => {
  const plain = await Array.fromAsync(directory.listFilesAndDirectories());
  assert.equal(plain.find(({ name }) => name === 'e').properties.contentLength, 1);
  const detailed = await Array.fromAsync(directory.listFilesAndDirectories({ includeTimestamps: true, includeEtag: true,
    includeAttributes: true, includePermissionKey: true, includeExtendedInfo: true }));
  for (const item of detailed) {
    const client = item.kind === 'directory' ? directory.getDirectoryClient(item.name) : directory.getFileClient(item.name);
    const shown = await client.getProperties();
    assert.equal(item.fileId, shown.fileId);
    assert.equal(item.attributes, shown.fileAttributes);
    assert.equal(item.permissionKey, shown.filePermissionKey);
    assert.equal(item.properties.etag, shown.etag);
    assert.deepEqual(item.properties.creationTime, shown.fileCreatedOn);
    assert.deepEqual(item.properties.lastWriteTime, shown.fileLastWriteOn);
    assert.deepEqual(item.properties.changeTime, shown.fileChangeOn);
  }
});

test('the page names what was asked', async () => {
  const answer = await request(server, 'GET', `/${share.name}/listed?restype=directory&comp=list&prefix=a&maxresults=3`);
  assert.equal(answer.status, 200);
  assert.match(answer.text, new RegExp(`ShareName="${share.name}"`));
  assert.match(answer.text, /DirectoryPath="listed"/);
  assert.match(answer.text, /<Prefix>a<\/Prefix>/);
  assert.match(answer.text, /<MaxResults>3<\/MaxResults>/);
  const refusals = [
    ['maxresults=0', 'OutOfRangeQueryParameterValue'],
    ['maxresults=x', 'InvalidQueryParameterValue'],
    ['include=everything', 'InvalidQueryParameterValue'],
    ['marker=nonsense', 'InvalidQueryParameterValue'],
  ];
  for (const [query, code] of refusals) {
    const refusal = await request(server, 'GET', `/${share.name}/listed?restype=directory&comp=list&${query}`);
    assert.deepEqual([refusal.status, refusal.code], [400, code], query);
  }
});
