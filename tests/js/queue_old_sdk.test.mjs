// Queues through azure-storage, the SDK of 2010 to 2020 that many programs still use.
import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { test } from 'node:test';
import azure from 'azure-storage';
import { Server } from './server.mjs';

const server = await Server.forThisFile();
const service = azure
  .createQueueService(server.connectionString)
  .withFilter(new azure.ExponentialRetryPolicyFilter(0));
const call = (name, ...rest) => promisify(service[name]).call(service, ...rest);

test('a queue and its messages', async () => {
  assert.equal((await call('createQueueIfNotExists', 'jobs')).created, true);
  assert.equal((await call('createQueueIfNotExists', 'jobs')).created, false);
  await call('setQueueMetadata', 'jobs', { colour: 'blue' });
  await call('createMessage', 'jobs', 'one & <two>', { messageTimeToLive: 100 });
  assert.equal((await call('getQueueMetadata', 'jobs')).approximateMessageCount, 1);
  const [peeked] = await call('peekMessages', 'jobs');
  assert.equal(peeked.messageText, 'one & <two>');
  const [taken] = await call('getMessages', 'jobs', { numOfMessages: 32, visibilityTimeout: 100 });
  assert.equal(taken.dequeueCount, 1);
  const updated = await call('updateMessage', 'jobs', taken.messageId, taken.popReceipt, 0, { messageText: 'three' });
  await assert.rejects(call('deleteMessage', 'jobs', taken.messageId, taken.popReceipt), { code: 'MessageNotFound' });
  await call('deleteMessage', 'jobs', taken.messageId, updated.popReceipt);
  assert.equal((await call('getMessages', 'jobs')).length, 0);
  await call('createMessage', 'jobs', 'x');
  await call('clearMessages', 'jobs');
  assert.equal((await call('getQueueMetadata', 'jobs')).approximateMessageCount, 0);
  await call('deleteQueue', 'jobs');
  assert.equal((await call('doesQueueExist', 'jobs')).exists, false);
});

test('lists and properties', async () => {
  for (const name of ['aa1', 'aa2', 'bb1']) await call('createQueue', name);
  const { entries } = await call('listQueuesSegmentedWithPrefix', 'aa', null);
  assert.deepEqual(
    entries.map((entry) => entry.name),
    ['aa1', 'aa2'],
  );
  const properties = await call('getServiceProperties');
  properties.HourMetrics = { Version: '1.0', Enabled: true, IncludeAPIs: true, RetentionPolicy: { Enabled: true, Days: 3 } };
  await call('setServiceProperties', properties);
  assert.equal((await call('getServiceProperties')).HourMetrics.RetentionPolicy.Days, 3);
});
