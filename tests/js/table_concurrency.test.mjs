// What many clients at once may rely on: increments with If-Match lose nothing, transactions within a partition are seen
// whole or not at all, and what was acknowledged survives a kill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AzureNamedKeyCredential, TableClient } from '@azure/data-tables';
import { ACCOUNT, KEY, Server } from './server.mjs';

const CLIENTS = 64;
const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const open = (server, name) => new TableClient(server.url('Table'), name, credential, options);
const conflicts = (error) => {
  if (error.statusCode !== 412 && error.code !== 'UpdateConditionNotSatisfied') throw error;
};

// Runs `work` in as many clients until each has succeeded so often; work() tells whether it has.
const together = (times, work) =>
  Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
    for (let done = 0; done < times;) done += (await work(client)) ? 1 : 0;
  }));

const server = await Server.forThisFile();

test('64 clients increment one entity and lose nothing', async () => {
  const table = open(server, 'Counters');
  await table.createTable();
  await table.createEntity({ partitionKey: 'p', rowKey: 'r', n: 0 });
  await together(2, async () => {
    const counter = await table.getEntity('p', 'r');
    try {
      await table.updateEntity({ partitionKey: 'p', rowKey: 'r', n: counter.n + 1 }, 'Merge', { etag: counter.etag });
      return true;
    } catch (error) {
      conflicts(error);
      return false;
    }
  });
  assert.equal((await table.getEntity('p', 'r')).n, CLIENTS * 2);
});

test('64 clients transfer between entities and every reader sees the same sum', async () => {
  const table = open(server, 'Accounts');
  await table.createTable();
  const ACCOUNTS = 20;
  const SUM = ACCOUNTS * 100;
  await table.submitTransaction(Array.from({ length: ACCOUNTS }, (_, i) =>
    ['create', { partitionKey: 'bank', rowKey: String(i), balance: 100 }]));
  const total = async () => {
    let sum = 0;
    for await (const entity of table.listEntities({ queryOptions: { filter: "PartitionKey eq 'bank'" } })) sum += entity.balance;
    return sum;
  };
  let transferring = true;
  const sums = new Set();
  const reader = (async () => {
    while (transferring) sums.add(await total());
  })();
  await together(3, async (client) => {
    const from = client % ACCOUNTS;
    const to = (client * 7 + 1) % ACCOUNTS;
    if (from === to) return true;
    const [payer, payee] = await Promise.all([from, to].map((row) => table.getEntity('bank', String(row))));
    const pay = (entity, amount) =>
      ['update', { partitionKey: 'bank', rowKey: entity.rowKey, balance: entity.balance + amount }, 'Merge', { etag: entity.etag }];
    try {
      await table.submitTransaction([pay(payer, -5), pay(payee, 5)]);
      return true;
    } catch (error) {
      conflicts(error);
      return false;
    }
  });
  transferring = false;
  await reader;
  assert.deepEqual([...sums], [SUM]);
  assert.equal(await total(), SUM);
});

test('acknowledged transactions survive a kill, and none is half there', async () => {
  const victim = await Server.start();
  const table = open(victim, 'Survivors');
  await table.createTable();
  const acknowledged = [];
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let i = 0; ; ++i) {
      const partitionKey = `w${writer}n${i}`;
      await table.submitTransaction(Array.from({ length: 5 }, (__, row) => ['create', { partitionKey, rowKey: String(row) }]));
      acknowledged.push(partitionKey);
      if (acknowledged.length === 60) await victim.kill();
    }
  });
  await Promise.allSettled(writers);
  const again = await Server.start({ location: victim.location });
  const found = new Map();
  for await (const { partitionKey } of open(again, 'Survivors').listEntities()) {
    found.set(partitionKey, (found.get(partitionKey) ?? 0) + 1);
  }
  for (const partition of acknowledged) assert.equal(found.get(partition), 5, partition);
  for (const [partition, rows] of found) assert.equal(rows, 5, partition);
  again.ownsLocation = true;
  await again.stop();
});
