// The File service through the old SDK (azure-storage, REST version 2018-03-28 and its own signer).
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { promisify } from 'node:util';
import azure from 'azure-storage';
import { Server } from './server.mjs';

const server = await Server.forThisFile();
const service = azure.createFileService(server.connectionString).withFilter(new azure.LinearRetryPolicyFilter(0));
const call = (name, ...rest) => promisify(service[name]).call(service, ...rest);
const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.code, code, error.message);
  return true;
};
let counter = 0;
async function freshShare(options = {}) {
  const name = `old-${counter++}`;
  await call('createShare', name, options);
  return name;
}

test('shares: create, find, list, metadata, quota, statistics, delete', async () => {
  const name = await freshShare({ metadata: { colour: 'blue' } });
  await assert.rejects(call('createShare', name), refused(409, 'ShareAlreadyExists'));
  assert.equal((await call('createShareIfNotExists', name)).created, false);
  assert.deepEqual((await call('getShareProperties', name)).metadata, { colour: 'blue' });
  await call('setShareMetadata', name, { size: '1' });
  assert.deepEqual((await call('getShareMetadata', name)).metadata, { size: '1' });
  await call('setShareProperties', name, { quota: 30 });
  assert.equal(Number((await call('getShareProperties', name)).quota), 30);
  const stats = await call('getShareStats', name);
  assert.equal(Number(stats.shareStats?.shareUsage ?? stats.shareUsage), 0);
  const { entries } = await call('listSharesSegmentedWithPrefix', name, null);
  assert.deepEqual(entries.map((entry) => entry.name), [name]);
  await call('deleteShare', name, {});
  assert.equal((await call('doesShareExist', name)).exists, false);
  await assert.rejects(call('deleteShare', name, {}), refused(404, 'ShareNotFound'));
});

test('access policies', async () => {
  const name = await freshShare();
  const [Start, Expiry] = [new Date('2024-01-02T03:04:05Z'), new Date('2034-01-02T03:04:05Z')];
  await call('setShareAcl', name, { first: { Permissions: 'r', Start, Expiry } });
  assert.equal((await call('getShareAcl', name)).signedIdentifiers.first.Permissions, 'r');
});

test('directories and files', async () => {
  const name = await freshShare();
  assert.equal((await call('createDirectoryIfNotExists', name, 'd')).created, true);
  await assert.rejects(call('createDirectory', name, 'd'), refused(409, 'ResourceAlreadyExists'));
  await call('createFileFromText', name, 'd', 'file.txt', 'Hällo', { metadata: { a: '1' } });
  assert.equal(await call('getFileToText', name, 'd', 'file.txt'), 'Hällo');
  const shown = await call('getFileProperties', name, 'd', 'file.txt');
  assert.deepEqual([Number(shown.contentLength), shown.metadata], [6, { a: '1' }]);
  await call('setFileMetadata', name, 'd', 'file.txt', { b: '2' });
  assert.deepEqual((await call('getFileMetadata', name, 'd', 'file.txt')).metadata, { b: '2' });
  await call('setFileProperties', name, 'd', 'file.txt', { contentType: 'text/plain' });
  assert.equal((await call('getFileProperties', name, 'd', 'file.txt')).contentSettings.contentType, 'text/plain');
  const { entries } = await call('listFilesAndDirectoriesSegmented', name, '', null);
  assert.deepEqual([entries.directories.map((e) => e.name), entries.files.length], [['d'], 0]);
  const inside = await call('listFilesAndDirectoriesSegmented', name, 'd', null);
  assert.deepEqual(inside.entries.files.map((e) => e.name), ['file.txt']);
  await assert.rejects(call('deleteDirectory', name, 'd'), refused(409, 'DirectoryNotEmpty'));
  await call('deleteFile', name, 'd', 'file.txt');
  assert.equal((await call('doesFileExist', name, 'd', 'file.txt')).exists, false);
  await call('deleteDirectory', name, 'd');
  await assert.rejects(call('getFileToText', name, 'd', 'file.txt'), { statusCode: 404 });
});

test('ranges, streams and copies', async () => {
  const name = await freshShare();
  const bytes = Buffer.alloc(5 * 1024 * 1024, 'pattern');
  await call('createFileFromStream', name, '', 'stream', Readable.from([bytes]), bytes.length, {});
  const ranges = await call('listRanges', name, '', 'stream');
  assert.equal(ranges.at(-1).end, bytes.length - 1);
  await call('clearRange', name, '', 'stream', 0, 1023);
  assert.equal((await call('listRanges', name, '', 'stream'))[0].start, 1024);
  await call('resizeFile', name, '', 'stream', 2048);
  assert.equal(Number((await call('getFileProperties', name, '', 'stream')).contentLength), 2048);
  const copied = await call('startCopyFile', service.getUrl(name, '', 'stream'), name, '', 'copy');
  assert.ok(['success', 'pending'].includes(copied.copy.status));
  assert.equal(Number((await call('getFileProperties', name, '', 'copy')).contentLength), 2048);
});

test('snapshots', async () => {
  const name = await freshShare();
  await call('createFileFromText', name, '', 'file', 'before');
  const snapshot = await call('createShareSnapshot', name);
  await call('createFileFromText', name, '', 'file', 'after');
  const id = snapshot.snapshot ?? snapshot;
  assert.equal(await call('getFileToText', name, '', 'file', { shareSnapshotId: id }), 'before');
  assert.equal(await call('getFileToText', name, '', 'file'), 'after');
  await assert.rejects(call('deleteShare', name, {}), refused(409, 'ShareHasSnapshots'));
  await call('deleteShare', name, { deleteSnapshots: 'include' });
});

test('service properties', async () => {
  const properties = await call('getServiceProperties');
  properties.HourMetrics = { Version: '1.0', Enabled: true, IncludeAPIs: true, RetentionPolicy: { Enabled: true, Days: 3 } };
  delete properties.Logging;
  await call('setServiceProperties', properties);
  assert.equal(Number((await call('getServiceProperties')).HourMetrics.RetentionPolicy.Days), 3);
});

test('tokens', async () => {
  const name = await freshShare();
  await call('createFileFromText', name, '', 'file', 'text');
  const token = service.generateSharedAccessSignature(name, '', 'file', {
    AccessPolicy: { Permissions: 'r', Start: azure.date.daysFromNow(-1), Expiry: azure.date.daysFromNow(1) },
  });
  const guest = azure.createFileServiceWithSas(server.url('File'), token).withFilter(new azure.LinearRetryPolicyFilter(0));
  assert.equal(await promisify(guest.getFileToText).call(guest, name, '', 'file'), 'text');
  await assert.rejects(promisify(guest.deleteFile).call(guest, name, '', 'file'), { statusCode: 403 });
});
