import * as bodyShare from '../../../src/admission/body-share.ts';
import * as pace from '../../../src/admission/pace.ts';
import * as place from '../../../src/admission/reservation.ts';
import * as bodyTimeout from '../../../src/http/connections/body-timeout.ts';
import * as connections from '../../../src/http/connections/connections.ts';
import { bytesInMemory } from '../../../src/http/endpoint/body-reader.ts';
import { MAX_KEPT_CHARS } from '../../../src/http/endpoint/keyed.ts';
import * as longBodies from '../../../src/http/endpoint/long-bodies.ts';
import * as compression from '../../../src/http/plugins/compression.ts';
import * as longAnswers from '../../../src/http/plugins/long-answers.ts';
import * as batch from '../../../src/http/routes/batch.ts';
import { MAX_KEPT_BATCH_CHARS } from '../../../src/http/routes/batch-once.ts';
import { MAX_TRANSACTION_ITEMS } from '../../../src/http/routes/batch-transaction.ts';
import * as records from '../../../src/http/routes/record-writes.ts';
import * as server from '../../../src/http/server.ts';
import * as credentials from '../../../src/kernel/credentials.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as stall from '../../../src/kernel/stall-allowance.ts';
import * as outcomes from '../../../src/records/write/matching/outcomes.ts';
import * as system from '../../../src/systems/system.ts';
import { bytes, characters, count, duration, type LimitGroup } from './limit.ts';

const minPace = `${bytes(limits.minBytesPerSecond)} a second`;

const batchLimits: LimitGroup = {
  heading: '### Batches',
  limits: [
    {
      of: 'refused records that a write of many lists',
      value: count(outcomes.MAX_LISTED),
      beyond: '`refusedCount` counts them',
      see: 'records.md#write-many-records',
    },
    { of: 'items of a batch', value: 'no limit', beyond: 'the body limits apply', see: 'batch.md#batch-limits' },
    {
      of: 'items of a transaction',
      value: count(MAX_TRANSACTION_ITEMS),
      beyond: '400, code 107, before anything is done',
      see: 'batch.md#transactions',
    },
    {
      of: 'logins and password resets in a batch',
      value: count(batch.MAX_OPEN_ITEMS),
      beyond: '400, code 107, before anything is done',
      see: 'batch.md#batch-limits',
    },
    {
      of: 'time until such an item has to begin',
      value: duration(batch.MAX_OPEN_MS),
      beyond: 'the item is 503',
      see: 'batch.md#batch-limits',
    },
    {
      of: 'answers of a batch together',
      value: characters(batch.MAX_ANSWERS_LENGTH),
      beyond: 'the remaining items are not executed: code 116',
      see: 'batch.md#batch-limits',
    },
  ],
};

export const requestLimits: readonly LimitGroup[] = [
  {
    heading: '## Requests',
    limits: [
      {
        of: '`Idempotency-Key`',
        value: '1 to 255 visible characters, for 24 hours',
        beyond: '400, code 107',
        see: 'requests.md#repeated-requests',
      },
      {
        of: 'answer that is kept for repetitions: of a batch; of a function or a write by `where`',
        value: `${characters(MAX_KEPT_BATCH_CHARS)}; ${characters(MAX_KEPT_CHARS)}`,
        beyond: 'made again from its items; 413, code 116',
        see: 'requests.md#repeated-requests',
      },
      { of: 'body on the data endpoints', value: bytes(limits.bodyBytes), beyond: '413, code 116', see: 'requests.md#bodies' },
      {
        of: 'body of `/login`, `/logout`, `/requestPasswordReset`, `/users/me`, `/sessions/me`, and of reading or deleting a file',
        value: bytes(limits.smallBodyBytes),
        beyond: '413, code 116',
        see: 'requests.md#bodies',
      },
      {
        of: 'values of a body: `,` `:` `[` `{` outside strings',
        value: count(limits.jsonMarks),
        beyond: '413, code 116',
        see: 'requests.md#bodies',
      },
      {
        of: 'values of a body outside its long lists, and in each member of them',
        value: count(limits.jsonMarksAtOnce),
        beyond: '413, code 116',
        see: 'requests.md#bodies',
      },
      { of: 'nesting of JSON', value: `${limits.jsonDepth} levels`, beyond: '400, code 107', see: 'requests.md#bodies' },
      {
        of: 'address and headers together',
        value: bytes(server.HEADER_BYTES),
        beyond: '431; send long queries as POST with `_method`',
        see: 'requests.md#headers',
      },
      {
        of: '`Location` header of a create',
        value: characters(records.MAX_LOCATION_LENGTH),
        beyond: 'it is left out',
        see: 'records.md#create',
      },
      {
        of: 'time to send the headers',
        value: duration(server.HEADERS_TIMEOUT_MS),
        beyond: '408',
        see: 'requests.md#slow-clients',
      },
      {
        of: 'time to send a body (uploads have more)',
        value: duration(bodyTimeout.BODY_TIMEOUT_MS),
        beyond: '408',
        see: 'requests.md#slow-clients',
      },
      {
        of: 'time that an idle connection is kept',
        value: duration(server.KEEP_ALIVE_TIMEOUT_MS),
        beyond: 'it is closed',
        see: 'requests.md#connections',
      },
      {
        of: 'requests sent ahead on one connection',
        value: `${connections.MAX_PIPELINED_REQUESTS}, of ${bytes(connections.MAX_PIPELINED_BYTES)} together`,
        beyond: 'the connection is closed',
        see: 'requests.md#connections',
      },
      {
        of: `memory of bodies over ${bytes(place.FREE_BYTES)} in one process, until they are answered`,
        value: `${bytes(bytesInMemory(Number.POSITIVE_INFINITY))}, less if the heap is small; half of it for one address, three quarters for one system`,
        beyond: 'bodies wait',
        see: 'requests.md#slow-clients',
      },
      {
        of: `values of bodies over ${bytes(bodyShare.MIN_LONG_BODY_LENGTH)} in one process, until they are answered; 8 characters count as one, if that is more`,
        value: `${count(longBodies.maxValuesInMemory(Number.POSITIVE_INFINITY).all)}, less if the heap is small; the same shares`,
        beyond: 'bodies wait',
        see: 'requests.md#slow-clients',
      },
      {
        of: `pace of a body while others wait for its memory, over ${duration(pace.PACE_INTERVAL_MS)}`,
        value: `at least ${minPace}`,
        beyond: '408, and the connection is closed',
        see: 'requests.md#slow-clients',
      },
      {
        of: 'time that a client may pause while a long answer is sent',
        value: `${duration(stall.MAX_PAUSE_MS)} at a stretch, ${duration(stall.MAX_STALL_MS)} beyond ${minPace} in all`,
        beyond: 'the answer breaks off, and the connection is closed',
        see: 'requests.md#long-answers',
      },
      {
        of: `answers over ${characters(longAnswers.LONG_ANSWER_LENGTH)} that are held in memory until the client takes them`,
        value: 'as much memory as bodies',
        beyond: 'connections whose clients take nothing are closed',
        see: 'requests.md#long-answers',
      },
      {
        of: 'answer that is sent without compression',
        value: bytes(compression.MAX_PLAIN_BYTES),
        beyond: 'it is compressed if `Accept-Encoding` allows',
        see: 'requests.md#compression',
      },
      {
        of: 'answers that are compressed while they are sent',
        value: `${compression.MAX_COMPRESSORS}, ${compression.MAX_COMPRESSORS_PER_NETWORK} of one network`,
        beyond: 'the next are sent without compression',
        see: 'requests.md#compression',
      },
      {
        of: 'different wrong keys from one address (IPv6: /64) in a minute',
        value: count(system.MAX_WRONG_KEYS),
        beyond: `429, code 155; for keys under ${credentials.SHORT_KEY_LENGTH} characters, right ones too`,
        see: 'authentication.md#keys',
      },
      {
        of: 'requests a minute from one address (IPv6: /64)',
        value: 'no limit by default; `RATE_LIMIT_LOGIN`, `RATE_LIMIT_FUNCTIONS`',
        beyond: '429, code 155',
        see: 'settings.md#rate-limits',
      },
      {
        of: 'connections of a process',
        value: 'its file descriptors, less a reserve',
        beyond: 'idle connections are closed',
        see: 'requests.md#connections',
      },
    ],
  },
  batchLimits,
];
