// Queues and messages through @azure/storage-queue.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { before, test } from 'node:test';
import {
  generateQueueSASQueryParameters,
  QueueClient,
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
} from '@azure/storage-queue';
import { ACCOUNT, KEY, Server } from './server.mjs';

const server = await Server.forThisFile();
const service = QueueServiceClient.fromConnectionString(server.connectionString, { retryOptions: { maxTries: 1 } });

let queue;
async function freshQueue() {
  const client = service.getQueueClient(`q${randomUUID()}`);
  await client.create();
  return client;
}
before(async () => (queue = await freshQueue()));

const refuses = (promise, statusCode, code) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.statusCode, statusCode);
    assert.equal(error.code, code);
    return true;
  });

test('create is idempotent as long as metadata agree', async () => {
  const client = service.getQueueClient(`q${randomUUID()}`);
  const metadata = { colour: 'blue' };
  assert.equal((await client.create({ metadata }))._response.status, 201);
  assert.equal((await client.create({ metadata }))._response.status, 204);
  await refuses(client.create({ metadata: { colour: 'red' } }), 409, 'QueueAlreadyExists');
  assert.equal((await client.createIfNotExists({ metadata })).succeeded, false);
  assert.equal(await client.exists(), true);
  await client.delete();
  assert.equal(await client.exists(), false);
  assert.equal((await client.deleteIfExists()).succeeded, false);
  await refuses(client.getProperties(), 404, 'QueueNotFound');
});

test('metadata and policies', async () => {
  const client = await freshQueue();
  await client.setMetadata({ a: '1', b: 'zwei' });
  const properties = await client.getProperties();
  assert.deepEqual(properties.metadata, { a: '1', b: 'zwei' });
  assert.equal(properties.approximateMessagesCount, 0);
  const policy = { id: 'p', accessPolicy: { permissions: 'raup', expiresOn: new Date('2030-01-01') } };
  await client.setAccessPolicy([policy]);
  const [kept] = (await client.getAccessPolicy()).signedIdentifiers;
  assert.equal(kept.id, 'p');
  assert.equal(kept.accessPolicy.permissions, 'raup');
});

test('list by prefix, in pages, with metadata', async () => {
  const prefix = `list${Date.now()}`;
  for (const i of [1, 2, 3, 4, 5]) await service.createQueue(`${prefix}-${i}`, { metadata: { i: String(i) } });
  const pages = [];
  const options = { prefix, includeMetadata: true };
  for await (const page of service.listQueues(options).byPage({ maxPageSize: 2 })) {
    pages.push(page.queueItems.map((item) => [item.name.at(-1), item.metadata.i]));
  }
  assert.deepEqual(pages, [[['1', '1'], ['2', '2']], [['3', '3'], ['4', '4']], [['5', '5']]]);
});

test('a message from put to delete', async () => {
  const sent = await queue.sendMessage('hello <&> wörld');
  assert.equal((await queue.peekMessages()).peekedMessageItems[0].messageText, 'hello <&> wörld');
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 60 });
  assert.equal(receivedMessageItems.length, 1);
  const [message] = receivedMessageItems;
  assert.equal(message.messageId, sent.messageId);
  assert.equal(message.dequeueCount, 1);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 1);

  const updated = await queue.updateMessage(message.messageId, message.popReceipt, 'changed', 0);
  await refuses(queue.deleteMessage(message.messageId, message.popReceipt), 404, 'MessageNotFound');
  const again = (await queue.receiveMessages()).receivedMessageItems[0];
  assert.equal(again.messageText, 'changed');
  assert.equal(again.dequeueCount, 2);
  assert.notEqual(again.popReceipt, updated.popReceipt);
  await refuses(queue.updateMessage(message.messageId, updated.popReceipt, 'late', 0), 404, 'MessageNotFound');
  await queue.deleteMessage(again.messageId, again.popReceipt);
  await refuses(queue.deleteMessage(again.messageId, again.popReceipt), 404, 'MessageNotFound');
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

test('a message comes back when its time-out ends', async () => {
  const client = await freshQueue();
  await client.sendMessage('x');
  const first = (await client.receiveMessages({ visibilityTimeout: 1 })).receivedMessageItems[0];
  let second;
  while (!second) [second] = (await client.receiveMessages({ visibilityTimeout: 30 })).receivedMessageItems;
  assert.equal(second.messageId, first.messageId);
  assert.equal(second.dequeueCount, 2);
  assert.ok(Date.now() >= first.insertedOn.getTime() + 1000);
});

test('order, batches, delay, time to live, clear', async () => {
  const client = await freshQueue();
  for (let i = 0; i < 40; ++i) await client.sendMessage(String(i));
  await client.sendMessage('much later', { visibilityTimeout: 600 });
  const forever = await client.sendMessage('forever', { messageTimeToLive: -1 });
  assert.equal(forever.expiresOn.getUTCFullYear(), 9999);
  const first = (await client.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems;
  assert.deepEqual(
    first.map((message) => message.messageText),
    Array.from({ length: 32 }, (_, i) => String(i)),
  );
  assert.equal((await client.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems.length, 9);
  assert.equal((await client.getProperties()).approximateMessagesCount, 42);
  await client.clearMessages();
  assert.equal((await client.getProperties()).approximateMessagesCount, 0);
  await refuses(client.deleteMessage(first[0].messageId, first[0].popReceipt), 404, 'MessageNotFound');
});

test('64 KiB is the limit', async () => {
  const client = await freshQueue();
  const text = 'x'.repeat(64 * 1024);
  await client.sendMessage(text);
  assert.equal((await client.receiveMessages()).receivedMessageItems[0].messageText, text);
  await refuses(client.sendMessage(`${text}x`), 413, 'RequestBodyTooLarge');
});

test('every range error', async () => {
  const wrong = 'OutOfRangeQueryParameterValue';
  await refuses(queue.receiveMessages({ numberOfMessages: 33 }), 400, wrong);
  await refuses(queue.peekMessages({ numberOfMessages: 0 }), 400, wrong);
  await refuses(queue.receiveMessages({ visibilityTimeout: 604801 }), 400, wrong);
  await refuses(queue.sendMessage('x', { visibilityTimeout: -1 }), 400, wrong);
  await refuses(queue.sendMessage('x', { messageTimeToLive: 0 }), 400, wrong);
  await refuses(queue.deleteMessage(randomUUID(), 'malformed'), 400, 'InvalidQueryParameterValue');
});

test('a SAS reaches what it grants and no more', async () => {
  const client = await freshQueue();
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const expiresOn = new Date(Date.now() + 3_600_000);
  const token = (permissions) =>
    generateQueueSASQueryParameters(
      { queueName: client.name, permissions: QueueSASPermissions.parse(permissions), expiresOn },
      credential,
    ).toString();
  const adder = new QueueClient(`${client.url}?${token('a')}`);
  await adder.sendMessage('by a guest');
  await refuses(adder.peekMessages(), 403, 'AuthorizationPermissionMismatch');
  const processor = new QueueClient(`${client.url}?${token('rp')}`);
  assert.equal((await processor.peekMessages()).peekedMessageItems.length, 1);
  const [message] = (await processor.receiveMessages()).receivedMessageItems;
  await refuses(processor.updateMessage(message.messageId, message.popReceipt, 'x'), 403, 'AuthorizationPermissionMismatch');
  await processor.deleteMessage(message.messageId, message.popReceipt);
  await refuses(processor.sendMessage('x'), 403, 'AuthorizationPermissionMismatch');
  const elsewhere = new QueueClient(`${queue.url}?${token('raup')}`);
  await assert.rejects(elsewhere.sendMessage('x'), { statusCode: 403 });
});

test('service properties and the preflight they allow', async () => {
  const cors = [
    { allowedOrigins: 'http://here', allowedMethods: 'GET,POST', allowedHeaders: '*', exposedHeaders: '*', maxAgeInSeconds: 5 },
  ];
  await service.setProperties({ cors });
  const properties = await service.getProperties();
  assert.equal(properties.cors[0].allowedOrigins, 'http://here');
  const headers = { Origin: 'http://here', 'Access-Control-Request-Method': 'POST' };
  assert.equal((await fetch(`${queue.url}/messages`, { method: 'OPTIONS', headers })).status, 200);
  headers.Origin = 'http://elsewhere';
  assert.equal((await fetch(`${queue.url}/messages`, { method: 'OPTIONS', headers })).status, 403);
});

test('messages survive a kill', async () => {
  const doomed = await Server.start();
  const before = QueueServiceClient.fromConnectionString(doomed.connectionString).getQueueClient('durable');
  await before.create();
  for (const text of ['1', '2', '3']) await before.sendMessage(text);
  const [taken] = (await before.receiveMessages({ visibilityTimeout: 600 })).receivedMessageItems;
  await doomed.kill();
  const revived = await Server.start({ location: doomed.location });
  const after = QueueServiceClient.fromConnectionString(revived.connectionString).getQueueClient('durable');
  const texts = (await after.receiveMessages({ numberOfMessages: 32 })).receivedMessageItems.map((m) => m.messageText);
  assert.deepEqual(texts, ['2', '3']);
  await after.deleteMessage(taken.messageId, taken.popReceipt);
  assert.equal((await after.getProperties()).approximateMessagesCount, 2);
  await revived.stop();
  await rm(doomed.location, { recursive: true, force: true });
});
