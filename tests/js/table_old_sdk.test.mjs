// Tables through azure-storage, the SDK of 2010 to 2020 that many programs still use.
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { test } from 'node:test';
import azure from 'azure-storage';
import { Server } from './server.mjs';

const server = await Server.forThisFile();
const service = azure
  .createTableService(server.connectionString)
  .withFilter(new azure.ExponentialRetryPolicyFilter(0));
const call = (name, ...rest) => promisify(service[name]).call(service, ...rest);
const { String: text, Int32: int32, Int64: int64, DateTime: dateTime } = azure.TableUtilities.entityGenerator;

test('a table and its entities', async () => {
  assert.equal((await call('createTableIfNotExists', 'people')).created, true);
  assert.equal((await call('createTableIfNotExists', 'People')).created, false);
  const walter = { PartitionKey: text('Harp'), RowKey: text('Walter'), Email: text('w@contoso.com'), Age: int32(42),
    Points: int64('9007199254740993'), Since: dateTime(new Date(Date.UTC(2020, 1, 2))) };
  await call('insertEntity', 'people', walter);
  await assert.rejects(call('insertEntity', 'people', walter), { code: 'EntityAlreadyExists', statusCode: 409 });
  const found = await call('retrieveEntity', 'people', 'Harp', 'Walter');
  assert.equal(found.Points._, '9007199254740993');
  assert.equal(found.Since._.toISOString(), '2020-02-02T00:00:00.000Z');
  await call('mergeEntity', 'people', { ...found, Age: int32(43) });
  await assert.rejects(call('replaceEntity', 'people', found), { code: 'UpdateConditionNotSatisfied', statusCode: 412 });
  await call('insertOrMergeEntity', 'people', { PartitionKey: text('Harp'), RowKey: text('Walter'), City: text('Rome') });
  const merged = await call('retrieveEntity', 'people', 'Harp', 'Walter');
  assert.deepEqual([merged.Age._, merged.City._, merged.Email._], [43, 'Rome', 'w@contoso.com']);
  await call('insertOrReplaceEntity', 'people', { PartitionKey: text('Harp'), RowKey: text('Ben') });
  const query = new azure.TableQuery().where('PartitionKey eq ? and Age ge ?', 'Harp', 40);
  assert.deepEqual((await call('queryEntities', 'people', query, null)).entries.map((e) => e.RowKey._), ['Walter']);
  await call('deleteEntity', 'people', { PartitionKey: text('Harp'), RowKey: text('Walter') });
  await assert.rejects(call('retrieveEntity', 'people', 'Harp', 'Walter'), { code: 'ResourceNotFound', statusCode: 404 });
});

test('a batch and pages', async () => {
  await call('createTable', 'pages');
  const batch = new azure.TableBatch();
  for (let i = 0; i < 50; ++i) batch.insertEntity({ PartitionKey: text('p'), RowKey: text(String(100 + i)) });
  assert.equal((await call('executeBatch', 'pages', batch)).length, 50);
  const rows = [];
  let token = null;
  do {
    const page = await call('queryEntities', 'pages', new azure.TableQuery().top(20), token);
    rows.push(...page.entries.map((e) => e.RowKey._));
    token = page.continuationToken;
  } while (token);
  assert.deepEqual(rows, Array.from({ length: 50 }, (_, i) => String(100 + i)));
  const failing = new azure.TableBatch();
  failing.insertEntity({ PartitionKey: text('p'), RowKey: text('new') });
  failing.insertEntity({ PartitionKey: text('p'), RowKey: text('100') });
  await assert.rejects(call('executeBatch', 'pages', failing), { code: 'EntityAlreadyExists' });
  await assert.rejects(call('retrieveEntity', 'pages', 'p', 'new'), { code: 'ResourceNotFound' });
});

test('tokens reach the keys they name', async () => {
  await call('createTable', 'ranges');
  for (const partition of ['a', 'b', 'c']) {
    await call('insertEntity', 'ranges', { PartitionKey: text(partition), RowKey: text('1') });
  }
  const token = service.generateSharedAccessSignature('ranges', {
    AccessPolicy: { Permissions: 'raud', Start: azure.date.daysFromNow(-1), Expiry: azure.date.daysFromNow(1), StartPk: 'b',
      EndPk: 'b' },
  });
  const guest = azure.createTableServiceWithSas(server.url('Table'), token).withFilter(new azure.ExponentialRetryPolicyFilter(0));
  const ask = (name, ...rest) => promisify(guest[name]).call(guest, ...rest);
  const seen = await ask('queryEntities', 'ranges', new azure.TableQuery(), null);
  assert.deepEqual(seen.entries.map((e) => e.PartitionKey._), ['b']);
  await ask('insertEntity', 'ranges', { PartitionKey: text('b'), RowKey: text('2') });
  for (const partition of ['a', 'c']) {
    const outside = { PartitionKey: text(partition), RowKey: text('1') };
    await assert.rejects(ask('retrieveEntity', 'ranges', partition, '1'), { statusCode: 403 });
    await assert.rejects(ask('insertOrReplaceEntity', 'ranges', outside), { statusCode: 403 });
    await assert.rejects(ask('deleteEntity', 'ranges', outside), { statusCode: 403 });
  }
  const batch = new azure.TableBatch();
  batch.insertEntity({ PartitionKey: text('c'), RowKey: text('9') });
  await assert.rejects(ask('executeBatch', 'ranges', batch));
  await assert.rejects(call('retrieveEntity', 'ranges', 'c', '9'), { code: 'ResourceNotFound' });
});
