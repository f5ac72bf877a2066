// Deleted containers: restored while they are kept, and their names taken for as long as the account says.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, refused, textOf } from './blob_fixtures.mjs';

const kept = await blobServer({ flags: ['--setting', 'containerRetentionDays=2'] });
const strict = await blobServer({ flags: ['--setting', 'deletionWindowSeconds=30'] });

const deletedOf = async (service, prefix) => {
  const found = [];
  for await (const item of service.listContainers({ prefix, includeDeleted: true })) if (item.deleted) found.push(item);
  return found;
};

test('a deleted container comes back with all that was in it', async () => {
  const container = await kept.freshContainer({ metadata: { a: 'b' } });
  const blob = container.getBlockBlobClient('b');
  await blob.upload('precious', 8);
  const { snapshot } = await blob.createSnapshot();
  const { etag } = await container.getProperties();
  await container.delete();
  await assert.rejects(blob.download(), refused(404, 'ContainerNotFound'));
  const [item, ...more] = await deletedOf(kept.service, container.containerName);
  assert.equal(more.length, 0);
  assert.ok(item.properties.deletedOn instanceof Date);
  assert.ok(item.properties.remainingRetentionDays <= 2);
  await kept.service.undeleteContainer(container.containerName, item.version);
  const restored = await container.getProperties();
  assert.deepEqual(restored.metadata, { a: 'b' });
  assert.notEqual(restored.etag, etag);
  assert.equal(await textOf(blob), 'precious');
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'precious');
  assert.deepEqual(await deletedOf(kept.service, container.containerName), []);
});

test('each deletion of a name is kept by itself', async () => {
  const container = await kept.freshContainer({ metadata: { n: '1' } });
  await container.delete();
  await container.create({ metadata: { n: '2' } });
  await container.delete();
  const items = await deletedOf(kept.service, container.containerName);
  assert.equal(new Set(items.map((item) => item.version)).size, 2);
  await kept.service.undeleteContainer(container.containerName, items[0].version);
  await assert.rejects(kept.service.undeleteContainer(container.containerName, items[1].version),
    refused(409, 'ContainerAlreadyExists'));
  assert.ok(['1', '2'].includes((await container.getProperties()).metadata.n));
});

test('what was never there is not restored', async () => {
  const container = await kept.freshContainer();
  await container.delete();
  await assert.rejects(kept.service.undeleteContainer(container.containerName, '0123456789ABCDEF'),
    refused(404, 'ContainerNotFound'));
});

test('a name stays taken for the time the account says', async () => {
  const container = await strict.freshContainer();
  await container.delete();
  await assert.rejects(container.create(), refused(409, 'ContainerBeingDeleted'));
  await assert.rejects(container.getProperties(), refused(404, 'ContainerNotFound'));
  await assert.rejects(container.getBlockBlobClient('b').upload('x', 1), refused(404, 'ContainerNotFound'));
});
