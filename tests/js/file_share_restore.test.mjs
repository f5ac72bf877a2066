// Deleted shares where the account keeps them: listed, restored, and gone when their time is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileServer, fileWith, refused, rootOf, textOf } from './file_fixtures.mjs';

const kept = await fileServer({ flags: ['--setting', 'shareRetentionDays=2'] });
const slow = await fileServer({ flags: ['--setting', 'deletionWindowSeconds=3600'] });

const deletionsOf = async (name) => {
  const found = [];
  for await (const item of kept.service.listShares({ prefix: name, includeDeleted: true, includeMetadata: true })) {
    if (item.deleted) found.push(item);
  }
  return found;
};

test('a deleted share comes back with its files, snapshots and metadata', async () => {
  const share = await kept.freshShare({ metadata: { a: '1' } });
  await fileWith(rootOf(share), 'file', 'content');
  const { snapshot } = await share.createSnapshot();
  await share.delete({ deleteSnapshots: 'include' });
  assert.equal(await share.exists(), false);
  const [deleted] = await deletionsOf(share.name);
  assert.match(deleted.version, /^[0-9A-F]{16}$/);
  assert.ok([1, 2].includes(deleted.properties.remainingRetentionDays));  // Whole days: a second later it is one less.
  assert.ok(deleted.properties.deletedTime ?? deleted.properties.deletedOn);
  assert.deepEqual(deleted.metadata, { a: '1' });
  const plain = [];
  for await (const item of kept.service.listShares({ prefix: share.name })) plain.push(item.name);
  assert.deepEqual(plain, []);

  await kept.service.undeleteShare(share.name, deleted.version);
  assert.equal(await textOf(rootOf(share).getFileClient('file')), 'content');
  assert.equal(await textOf(rootOf(share.withSnapshot(snapshot)).getFileClient('file')), 'content');
  assert.deepEqual((await share.getProperties()).metadata, { a: '1' });
  assert.deepEqual(await deletionsOf(share.name), []);
});

test('each deletion of a name has a version of its own', async () => {
  const share = await kept.freshShare({ metadata: { which: 'first' } });
  await share.delete();
  await share.create({ metadata: { which: 'second' } });
  await share.delete();
  const deletions = await deletionsOf(share.name);
  assert.deepEqual(deletions.map(({ metadata }) => metadata.which), ['first', 'second']);
  await kept.service.undeleteShare(share.name, deletions[0].version);
  assert.equal((await share.getProperties()).metadata.which, 'first');
  await assert.rejects(kept.service.undeleteShare(share.name, deletions[1].version), refused(409, 'ShareAlreadyExists'));
  await assert.rejects(kept.service.undeleteShare('never-was', deletions[1].version), refused(404, 'ShareNotFound'));
});

test('a name that is being given up cannot be taken yet', async () => {
  const share = await slow.freshShare();
  await share.delete();
  await assert.rejects(share.create(), refused(409, 'ShareBeingDeleted'));
  await assert.rejects(share.getProperties(), refused(404, 'ShareNotFound'));
});
