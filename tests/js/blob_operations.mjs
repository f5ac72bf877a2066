// The operations on one blob as the SDK performs them, with what each takes: the tables behind the tests of conditions and
// leases, which must hold for every operation alike.
import { bytesOf } from './blob_fixtures.mjs';

export const HEADERS = ['ifMatch', 'ifNoneMatch', 'ifModifiedSince', 'ifUnmodifiedSince'];
const ALL = [...HEADERS, 'tagConditions'];
const TAGS = ['tagConditions'];
const PAGE = Buffer.alloc(512, 7);

export const BLOCK_ID = Buffer.from('block-01').toString('base64');

// Makes a blob of each type, tagged colour=blue.
export const makers = {
  async block(container, name) {
    const blob = container.getBlockBlobClient(name);
    await blob.upload('original', 8, { tags: { colour: 'blue' }, metadata: { kept: 'yes' } });
    return blob;
  },
  async append(container, name) {
    const blob = container.getAppendBlobClient(name);
    await blob.create({ tags: { colour: 'blue' }, metadata: { kept: 'yes' } });
    await blob.appendBlock('original', 8);
    return blob;
  },
  async page(container, name) {
    const blob = container.getPageBlobClient(name);
    await blob.create(1024, { tags: { colour: 'blue' }, metadata: { kept: 'yes' } });
    await blob.uploadPages(Buffer.alloc(512, 1), 0, 512);
    return blob;
  },
};

// kind: how the request counts. `takes`: the conditions it evaluates. `lease`: 'must' (a locked blob is only changed with
// its id), 'may' (an id that is given must be right) or 'none'. `touches`: a success changes the ETag. `prepare` runs first,
// with the id of the lease if there is one.
const operation = (name, type, kind, takes, lease, run, more = {}) =>
  ({ name, type, kind, takes, lease, run, touches: kind === 'write', ...more });

const keeps = { touches: false };

export const operations = [
  operation('Get Blob', 'block', 'read', ALL, 'may',
    async (blob, conditions) => bytesOf((await blob.download(0, undefined, { conditions })).readableStreamBody)),
  operation('Get Blob Properties', 'block', 'read', ALL, 'may', (blob, conditions) => blob.getProperties({ conditions })),
  operation('Get Blob Tags', 'block', 'read', TAGS, 'may', (blob, conditions) => blob.getTags({ conditions })),
  operation('Get Block List', 'block', 'read', TAGS, 'may', (blob, conditions) => blob.getBlockList('all', { conditions })),
  operation('Get Page Ranges', 'page', 'read', ALL, 'may', (blob, conditions) => blob.getPageRanges(0, 1024, { conditions })),
  operation('Put Blob', 'block', 'write', ALL, 'must', (blob, conditions) => blob.upload('new', 3, { conditions })),
  operation('Put Blob (append)', 'append', 'write', ALL, 'must', (blob, conditions) => blob.create({ conditions })),
  operation('Put Blob (page)', 'page', 'write', ALL, 'must', (blob, conditions) => blob.create(2048, { conditions })),
  operation('Put Block', 'block', 'write', [], 'must',
    (blob, conditions) => blob.stageBlock(BLOCK_ID, 'new', 3, { conditions }), keeps),
  operation('Put Block List', 'block', 'write', ALL, 'must',
    (blob, conditions) => blob.commitBlockList([BLOCK_ID], { conditions }),
    { prepare: (blob, leaseId) => blob.stageBlock(BLOCK_ID, 'new', 3, { conditions: { leaseId } }) }),
  operation('Append Block', 'append', 'write', ALL, 'must',
    (blob, conditions) => blob.appendBlock('more', 4, { conditions })),
  operation('Append Blob Seal', 'append', 'write', HEADERS, 'must', (blob, conditions) => blob.seal({ conditions })),
  operation('Put Page', 'page', 'write', ALL, 'must', (blob, conditions) => blob.uploadPages(PAGE, 0, 512, { conditions })),
  operation('Put Page (clear)', 'page', 'write', ALL, 'must', (blob, conditions) => blob.clearPages(0, 512, { conditions })),
  operation('Set Blob Properties', 'block', 'write', ALL, 'must',
    (blob, conditions) => blob.setHTTPHeaders({ blobContentType: 'text/new' }, { conditions })),
  operation('Set Blob Properties (resize)', 'page', 'write', ALL, 'must',
    (blob, conditions) => blob.resize(2048, { conditions })),
  operation('Set Blob Properties (sequence number)', 'page', 'write', ALL, 'must',
    (blob, conditions) => blob.updateSequenceNumber('update', 7, { conditions })),
  operation('Set Blob Metadata', 'block', 'write', ALL, 'must',
    (blob, conditions) => blob.setMetadata({ changed: 'yes' }, { conditions })),
  operation('Set Blob Tags', 'block', 'write', TAGS, 'must',
    (blob, conditions) => blob.setTags({ colour: 'blue' }, { conditions }), keeps),
  operation('Set Blob Tier', 'block', 'write', TAGS, 'may',
    (blob, conditions) => blob.setAccessTier('Cool', { conditions }), keeps),
  operation('Snapshot Blob', 'block', 'write', ALL, 'may', (blob, conditions) => blob.createSnapshot({ conditions }), keeps),
  operation('Lease Blob', 'block', 'write', ALL, 'none',
    (blob, conditions) => blob.getBlobLeaseClient().acquireLease(-1, { conditions }), keeps),
  operation('Delete Blob', 'block', 'write', ALL, 'must', (blob, conditions) => blob.delete({ conditions })),
];
