// What the black-box tests of the File service share: clients of one server, fresh shares, and what can be seen of a file.
import dns from 'node:dns';
import { ShareServiceClient, StorageSharedKeyCredential } from '@azure/storage-file-share';
import * as fixtures from './blob_fixtures.mjs';
import { ACCOUNT, KEY, Server } from './server.mjs';

export { bytesOf, hash, namesOf, once, refused } from './blob_fixtures.mjs';

export const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
export const MIB = 1024 * 1024;

// Names below .localhost are this machine, whether or not its resolver knows that.
const lookup = dns.lookup;
dns.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);

// A server for the calling test file, its service client, and a maker of fresh shares on it. With `hostStyle` the account is
// in the host name, where the SDK puts it.
export async function fileServer({ hostStyle = false, ...options } = {}) {
  const server = await Server.forThisFile(options);
  const { port } = new URL(server.url('File'));
  const url = hostStyle ? `http://${ACCOUNT}.file.localhost:${port}` : server.url('File');
  const service = new ShareServiceClient(url, credential, fixtures.once);
  let counter = 0;
  const freshShare = async (creation) => {
    const share = service.getShareClient(`share-${counter++}`);
    await share.create(creation);
    return share;
  };
  return { server, service, freshShare };
}

// Sends what no SDK sends. `path` is below the account.
export const request = (server, method, path, options = {}) =>
  fixtures.request(server, method, `/${ACCOUNT}${path}`, { service: 'File', ...options });

export const contentOf = async (file, ...range) => fixtures.bytesOf((await file.download(...range)).readableStreamBody);
export const textOf = async (file) => (await contentOf(file)).toString();

// A file with this content below a directory (or the root directory of a share).
export async function fileWith(directory, name, content, options) {
  const bytes = Buffer.from(content);
  const file = directory.getFileClient(name);
  await file.create(bytes.length, options);
  if (bytes.length > 0) await file.uploadRange(bytes, 0, bytes.length);
  return file;
}

export const rootOf = (share) => share.rootDirectoryClient;

// What a directory holds, sorted; names of directories end in a slash.
export async function entriesOf(directory, options) {
  const entries = [];
  for await (const entry of directory.listFilesAndDirectories(options)) {
    entries.push(entry.kind === 'directory' ? `${entry.name}/` : entry.name);
  }
  return entries.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
}
