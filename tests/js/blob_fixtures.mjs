// What the black-box tests of the Blob service share: clients of one server, fresh containers and blobs, and how a refusal
// is checked.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ACCOUNT, KEY, Server } from './server.mjs';

export const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
// Retries would hide what the server answered first.
export const once = { retryOptions: { maxTries: 1 } };

// A server for the calling test file, its service client, and makers of fresh things on it.
export async function blobServer(options) {
  const server = await Server.forThisFile(options);
  const service = new BlobServiceClient(server.blobUrl, credential, once);
  let counter = 0;
  const freshContainer = async (creation) => {
    const container = service.getContainerClient(`box-${counter++}`);
    await container.create(creation);
    return container;
  };
  return { server, service, freshContainer };
}

// For assert.rejects: the server's status and error code, whichever way the SDK carries them.
export const refused = (status, code) => (error) => {
  assert.equal(error.statusCode, status, `${error.code}: ${error.message}`);
  assert.equal(error.response?.headers.get('x-ms-error-code') ?? error.code, code, error.message);
  return true;
};

export const hash = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');
export const bytesOf = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};
export const contentOf = async (blob, ...range) => bytesOf((await blob.download(...range)).readableStreamBody);
export const textOf = async (blob) => (await contentOf(blob)).toString();
export const namesOf = async (items) => {
  const names = [];
  for await (const item of items) names.push(item.name);
  return names;
};

// All that a client can see of a blob, or 'absent'.
export async function picture(blob) {
  try {
    const shown = await blob.getProperties();
    const { etag, lastModified, contentLength, contentType, metadata, leaseState, leaseStatus, accessTier } = shown;
    const { blobSequenceNumber, isSealed } = shown;
    const content = contentLength > 0 && accessTier !== 'Archive' ? hash(await contentOf(blob)) : '';
    const { tags } = await blob.getTags();
    return { etag, lastModified, contentLength, contentType, metadata, leaseState, leaseStatus, accessTier, content, tags,
      blobSequenceNumber, isSealed };
  } catch (error) {
    if (error.statusCode === 404) return 'absent';
    throw error;
  }
}

// Asserts that the server refuses what `action` asks for, and that the blob is then as it was before.
export async function refusedUnchanged(blob, status, code, action) {
  const before = await picture(blob);
  await assert.rejects(action(), refused(status, code));
  assert.deepEqual(await picture(blob), before);
}

const SIGNED_HEADERS = ['content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date',
  'if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range'];

// The Authorization header (SharedKey) of a request whose other headers are complete, names in lower case.
export function signature(method, path, headers, account = ACCOUNT, key = KEY) {
  const url = new URL(path, 'http://any');
  const standard = SIGNED_HEADERS.map((name) => {
    const value = String(headers[name] ?? '');
    return name === 'content-length' && value === '0' ? '' : value;
  });
  const own = Object.keys(headers).filter((name) => name.startsWith('x-ms-')).sort();
  const query = [...new Set(url.searchParams.keys())].map((name) => name.toLowerCase()).sort();
  const lines = [method, ...standard, ...own.map((name) => `${name}:${headers[name]}`),
    `/${account}${path.split('?')[0]}`,
    ...query.map((name) => `\n${name}:${url.searchParams.getAll(name).join(',')}`.slice(1))];
  const mac = crypto.createHmac('sha256', Buffer.from(key, 'base64')).update(lines.join('\n')).digest('base64');
  return `SharedKey ${account}:${mac}`;
}

export const DEFAULT_VERSION = '2025-05-05';

// The headers of a signed request. Give what differs from the usual, in lower case; undefined leaves a usual one out.
export function signedHeaders(method, path, { headers = {}, length } = {}) {
  const all = { 'x-ms-date': new Date().toUTCString(), 'x-ms-version': DEFAULT_VERSION, ...headers };
  if (length !== undefined) all['content-length'] ??= String(length);
  for (const name of Object.keys(all)) if (all[name] === undefined) delete all[name];
  all.authorization ??= signature(method, path, all);
  return all;
}

// Sends what no SDK sends, to `service` ('Blob'...). `path` begins behind the host; `sign: false` sends it anonymously.
export async function request(server, method, path, { headers = {}, body, sign = true, service = 'Blob' } = {}) {
  const { hostname, port } = new URL(server.url(service));
  const length = body === undefined && method !== 'PUT' && method !== 'POST' ? undefined : Buffer.byteLength(body ?? '');
  const all = sign ? signedHeaders(method, path, { headers, length }) : headers;
  const response = await new Promise((resolve, reject) => {
    const sent = http.request({ hostname, port, method, path, headers: all }, resolve);
    sent.on('error', reject);
    sent.end(body);
  });
  const bytes = await bytesOf(response);
  return { status: response.statusCode, headers: response.headers, code: response.headers['x-ms-error-code'], bytes,
    text: bytes.toString() };
}
