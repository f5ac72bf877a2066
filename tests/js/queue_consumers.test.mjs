// A consumer group on a server that is killed under it: every message is delivered at least once, none is held by two
// consumers at a time, none is lost and none is left.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { QueueClient, StorageSharedKeyCredential, newPipeline } from '@azure/storage-queue';
import { ACCOUNT, KEY, Server } from './server.mjs';

const PRODUCERS = 32;
const CONSUMERS = 32;
const MESSAGES_EACH = 40;
const HOLD_SECONDS = 2;
const KILLS = 2;
const CRASH_EVERY = 9; // One in so many deliveries ends with the consumer's death.
const DEADLINE_MS = 90_000; // On an idle machine it takes a few seconds.

test('producers, consumers that crash, a server that is killed', async () => {
  const expected = PRODUCERS * MESSAGES_EACH;
  let server = await Server.start();
  const { location } = server;
  const pipeline = newPipeline(new StorageSharedKeyCredential(ACCOUNT, KEY), { retryOptions: { maxTries: 1 } });
  let queue = new QueueClient(`${server.url('Queue')}/group`, pipeline);
  await queue.create();

  const stopAt = Date.now() + DEADLINE_MS;
  // While the server is down everyone tries again. Errors other than a lost connection are failures of the server.
  async function insist(action) {
    for (;;) {
      try {
        return await action();
      } catch (error) {
        if (error.statusCode !== undefined && error.statusCode < 500) throw error;
        assert.ok(Date.now() < stopAt, `still failing at the deadline: ${error.message}`);
        await sleep(50);
      }
    }
  }

  const done = new Set(); // texts whose message was deleted, or taken over by someone who will
  const seen = new Set(); // texts delivered
  const heldUntil = new Map(); // message id -> when its holder's time-out ends at the earliest
  let deliveries = 0;
  let produced = 0;

  async function produce(producer) {
    for (let i = 0; i < MESSAGES_EACH; ++i) {
      await insist(() => queue.sendMessage(`${producer}/${i}`));
      ++produced;
    }
  }

  async function consume() {
    while (done.size < expected) {
      const asked = Date.now();
      const { receivedMessageItems } = await insist(() =>
        queue.receiveMessages({ numberOfMessages: 4, visibilityTimeout: HOLD_SECONDS }),
      );
      const received = Date.now();
      for (const message of receivedMessageItems) {
        const id = message.messageId;
        assert.ok(received >= (heldUntil.get(id) ?? 0), `message ${id} was handed out while another consumer held it`);
        heldUntil.set(id, asked + HOLD_SECONDS * 1000);
        seen.add(message.messageText);
        if (++deliveries % CRASH_EVERY === 0) continue;
        // 404: the answer to an earlier try was lost in a kill, or another consumer took over after the time-out.
        await insist(() => queue.deleteMessage(id, message.popReceipt)).catch((error) => {
          if (error.statusCode !== 404) throw error;
        });
        done.add(message.messageText);
      }
      if (receivedMessageItems.length === 0) await sleep(20);
      assert.ok(Date.now() < stopAt, `only ${done.size} of ${expected} handled by the deadline`);
    }
  }

  async function killAndRestart() {
    for (let kill = 1; kill <= KILLS; ++kill) {
      while (done.size < (expected * kill) / (KILLS + 2)) await sleep(5);
      await server.kill();
      server = await Server.start({ location });
      queue = new QueueClient(`${server.url('Queue')}/group`, pipeline);
    }
  }

  const everyone = [killAndRestart()];
  for (let i = 0; i < PRODUCERS; ++i) everyone.push(produce(i));
  for (let i = 0; i < CONSUMERS; ++i) everyone.push(consume());
  await Promise.all(everyone);

  assert.equal(produced, expected);
  assert.equal(seen.size, expected);
  // Puts and deletes whose answer was lost may have left doubles; they come back within the time-out and then no more.
  await sleep(HOLD_SECONDS * 1000);
  for (;;) {
    const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 60 });
    if (receivedMessageItems.length === 0) break;
    for (const message of receivedMessageItems) {
      assert.ok(seen.has(message.messageText));
      await queue.deleteMessage(message.messageId, message.popReceipt);
    }
  }
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
  await server.stop();
  await rm(location, { recursive: true, force: true });
});
