// The Table service through @azure/data-tables: tables, entities, queries, pages, errors, optimistic concurrency.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureNamedKeyCredential, TableClient, TableServiceClient, odata } from '@azure/data-tables';
import { ACCOUNT, KEY, Server } from './server.mjs';

const server = await Server.forThisFile();
const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const url = server.url('Table');
const service = new TableServiceClient(url, credential, options);
const open = (name) => new TableClient(url, name, credential, options);

let counter = 0;
async function freshTable() {
  const table = open(`Table${process.pid}n${counter++}`);
  await table.createTable();
  return table;
}
const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.details?.odataError?.code, code);
  return true;
};
async function collect(iterator) {
  const all = [];
  for await (const item of iterator) all.push(item);
  return all;
}

test('tables are created, listed by filter and page, and deleted', async () => {
  const names = ['Listed1', 'Listed2', 'Listed3'];
  for (const name of names) await service.createTable(name);
  await service.createTable('listed1'); // The SDK takes 409 TableAlreadyExists for success.
  const queryOptions = { filter: odata`TableName ge ${'Listed'} and TableName lt ${'Listee'}` };
  assert.deepEqual((await collect(service.listTables({ queryOptions }))).map((t) => t.name), names);
  const pages = await collect(service.listTables({ queryOptions }).byPage({ maxPageSize: 2 }));
  assert.deepEqual(pages.flat().map((t) => t.name), names);
  await service.deleteTable('LISTED2');
  assert.deepEqual((await collect(service.listTables({ queryOptions }))).map((t) => t.name), ['Listed1', 'Listed3']);
  await assert.rejects(open('Listed2').createEntity({ partitionKey: 'p', rowKey: 'r' }), refused(404, 'TableNotFound'));
});

test('every type comes back as it went', async () => {
  const table = await freshTable();
  const entity = {
    partitionKey: "it's a key",
    rowKey: 'ключ 键 %+&=',
    text: 'quotes " \\ and\nlines \u{1F600}',
    small: -2147483648,
    large: { type: 'Int64', value: '9223372036854775807' },
    real: 0.1,
    whole: { type: 'Double', value: '5.0' },
    endless: { type: 'Double', value: 'Infinity' },
    yes: true,
    date: new Date('2022-05-06T00:44:28.820Z'),
    exact: { type: 'DateTime', value: '2022-05-06T00:44:28.8204987Z' },
    id: { type: 'Guid', value: 'c9da6455-213d-42c9-9a79-3e9149a57833' },
    bytes: new Uint8Array([0, 1, 255]),
    empty: '',
  };
  await table.createEntity(entity);
  const found = await table.getEntity(entity.partitionKey, entity.rowKey, { disableTypeConversion: true });
  const expected = {
    text: { type: 'String', value: entity.text },
    small: { type: 'Int32', value: '-2147483648' },
    large: entity.large,
    real: { type: 'Double', value: '0.1' },
    yes: { type: 'Boolean', value: 'true' },
    date: { type: 'DateTime', value: '2022-05-06T00:44:28.82Z' },
    exact: entity.exact,
    id: entity.id,
    bytes: { type: 'Binary', value: 'AAH/' },
    empty: { type: 'String', value: '' },
  };
  for (const [name, value] of Object.entries(expected)) assert.deepEqual(found[name], value, name);
  assert.equal(found.endless.value, 'Infinity');
  assert.equal(found.rowKey, entity.rowKey);
  assert.match(found.etag, /^W\/"datetime'\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d(\.\d+)?Z'"$/);
});

test('merge keeps, replace drops, upserts make', async () => {
  const table = await freshTable();
  const keys = { partitionKey: 'p', rowKey: 'r' };
  await assert.rejects(table.updateEntity({ ...keys, a: 1 }), refused(404, 'ResourceNotFound'));
  await table.upsertEntity({ ...keys, a: 1, b: 2 }, 'Merge');
  await table.upsertEntity({ ...keys, b: 'two' }, 'Merge');
  let found = await table.getEntity('p', 'r');
  assert.deepEqual([found.a, found.b], [1, 'two']);
  await table.updateEntity({ ...keys, c: 3 }, 'Merge');
  await table.updateEntity({ ...keys, d: 4 }, 'Replace');
  found = await table.getEntity('p', 'r');
  assert.deepEqual([found.a, found.b, found.c, found.d], [undefined, undefined, undefined, 4]);
  await table.upsertEntity({ ...keys, e: 5 }, 'Replace');
  assert.equal((await table.getEntity('p', 'r')).d, undefined);
  await assert.rejects(table.createEntity(keys), refused(409, 'EntityAlreadyExists'));
});

test('a customer changed by someone else is not overwritten', async () => {
  const table = await freshTable();
  await table.createEntity({ partitionKey: 'Harp', rowKey: 'Walter', email: 'Walter@contoso.com' });
  const customer = await table.getEntity('Harp', 'Walter');
  // Someone else changes the customer in the meantime.
  await table.updateEntity({ ...customer, phone: '425-555-0101' }, 'Replace', { etag: customer.etag });
  customer.email = 'updatedEmail@contoso.org';
  await assert.rejects(table.updateEntity(customer, 'Replace', { etag: customer.etag }),
    refused(412, 'UpdateConditionNotSatisfied'));
  await assert.rejects(table.updateEntity(customer, 'Merge', { etag: customer.etag }),
    refused(412, 'UpdateConditionNotSatisfied'));
  await assert.rejects(table.deleteEntity('Harp', 'Walter', { etag: customer.etag }),
    refused(412, 'UpdateConditionNotSatisfied'));
  // With * the check is switched off on purpose.
  await table.updateEntity(customer, 'Replace', { etag: '*' });
  const now = await table.getEntity('Harp', 'Walter');
  assert.equal(now.email, 'updatedEmail@contoso.org');
  assert.equal(now.phone, undefined);
  await table.deleteEntity('Harp', 'Walter', { etag: now.etag });
  await assert.rejects(table.deleteEntity('Harp', 'Walter'), refused(404, 'ResourceNotFound'));
});

test('queries filter, select and page', async () => {
  const table = await freshTable();
  for (const partition of ['a', 'b']) {
    const actions = [];
    for (let i = 0; i < 60; ++i) {
      const entity = { partitionKey: partition, rowKey: String(i).padStart(3, '0'), n: i, even: i % 2 === 0 };
      if (i % 10 === 0) entity.ten = { type: 'Int64', value: String(i) };
      actions.push(['create', entity]);
    }
    await table.submitTransaction(actions);
  }
  const rows = async (filter, select) =>
    (await collect(table.listEntities({ queryOptions: { filter, select } }))).map((e) => `${e.partitionKey}${e.rowKey}`);
  assert.deepEqual(await rows(odata`PartitionKey eq ${'a'} and RowKey ge ${'010'} and RowKey lt ${'013'}`),
    ['a010', 'a011', 'a012']);
  assert.deepEqual(await rows('ten ge 50L'), ['a050', 'b050']);
  assert.deepEqual(await rows("n eq 7 or (PartitionKey eq 'b' and n lt 2)"), ['a007', 'b000', 'b001', 'b007']);
  assert.deepEqual(await rows("not even and PartitionKey eq 'a' and n le 3"), ['a001', 'a003']);
  assert.deepEqual(await rows("n eq '7'"), []);
  const selected = await collect(table.listEntities({ queryOptions: { filter: "RowKey eq '005'", select: ['n'] } }));
  assert.deepEqual(selected.map((e) => e.n), [5, 5]);
  const pages = await collect(table.listEntities({ queryOptions: { filter: 'even' } }).byPage({ maxPageSize: 7 }));
  assert.equal(pages.flat().length, 60);
  assert.ok(pages.every((page) => page.length <= 7));
  const first = (await table.listEntities().byPage({ maxPageSize: 100 }).next()).value;
  assert.equal(first.length, 100);
  const rest = (await table.listEntities().byPage({ maxPageSize: 100, continuationToken: first.continuationToken }).next()).value;
  assert.equal(rest.length, 20);
  assert.equal(rest.continuationToken, undefined);
  await assert.rejects(collect(table.listEntities({ queryOptions: { filter: 'aaa bbb ccc' } })), refused(400, 'InvalidInput'));
});

test('transactions are all or nothing and name the change that failed', async () => {
  const table = await freshTable();
  const entity = (row, more) => ({ partitionKey: 'p', rowKey: row, ...more });
  await table.submitTransaction([
    ['create', entity('1')],
    ['upsert', entity('2', { a: 1 })],
    ['upsert', entity('3', { a: 1 }), 'Replace'],
  ]);
  const done = await table.submitTransaction([
    ['update', entity('1', { b: 1 })],
    ['update', entity('2', { b: 1 }), 'Replace'],
    ['delete', entity('3')],
  ]);
  assert.equal(done.status, 202);
  assert.deepEqual(done.subResponses.map((r) => r.status), [204, 204, 204]);
  assert.equal((await table.getEntity('p', '2')).a, undefined);
  const failing = (actions, status, code) => assert.rejects(table.submitTransaction(actions), (error) => {
    assert.equal(error.statusCode, status, error.message);
    assert.equal(error.code, code);
    return true;
  });
  await failing([['create', entity('4')], ['create', entity('1')]], 409, 'EntityAlreadyExists');
  await failing([['create', entity('4')], ['create', entity('4')]], 400, 'InvalidDuplicateRow');
  await failing([['create', entity('4')], ['delete', entity('none')]], 404, 'ResourceNotFound');
  await failing(Array.from({ length: 101 }, (_, i) => ['create', entity(`m${i}`)]), 400, 'InvalidInput');
  assert.deepEqual((await collect(table.listEntities())).map((e) => e.rowKey), ['1', '2']);
});

test('limits of entities', async () => {
  const table = await freshTable();
  const create = (more) => table.createEntity({ partitionKey: 'p', rowKey: String(counter++), ...more });
  const many = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
  await create(many(252));
  await assert.rejects(create(many(253)), refused(400, 'TooManyProperties'));
  await create({ text: 'x'.repeat(32 * 1024) });
  await assert.rejects(create({ text: 'x'.repeat(32 * 1024 + 1) }), refused(400, 'PropertyValueTooLarge'));
  const texts = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, 'x'.repeat(32 * 1024)]));
  await create(texts(15));
  await assert.rejects(create(texts(16)), refused(400, 'EntityTooLarge'));
  await assert.rejects(create({ ['n'.repeat(256)]: 1 }), refused(400, 'PropertyNameTooLong'));
  await assert.rejects(create({ 'a-b': 1 }), refused(400, 'PropertyNameInvalid'));
  await assert.rejects(table.createEntity({ partitionKey: 'a/b', rowKey: 'r' }), refused(400, 'OutOfRangeInput'));
  await table.createEntity({ partitionKey: '', rowKey: '' });
  assert.equal((await table.getEntity('', '')).partitionKey, '');
});

test('service properties, statistics and access policies', async () => {
  await service.setProperties({ minuteMetrics: { version: '1.0', enabled: false } });
  assert.equal((await service.getProperties()).minuteMetrics.enabled, false);
  const secondary = new TableServiceClient(`${url}-secondary`, credential, options);
  assert.equal((await secondary.getStatistics()).geoReplication.status, 'live');
  await assert.rejects(service.getStatistics(), (error) => error.statusCode === 400);
  const table = await freshTable();
  const start = new Date('2026-01-01T00:00:00.000Z');
  await table.setAccessPolicy([{ id: 'reading', accessPolicy: { start, expiry: start, permission: 'r' } }]);
  const [policy] = await table.getAccessPolicy();
  assert.deepEqual([policy.id, policy.accessPolicy.permission], ['reading', 'r']);
});
