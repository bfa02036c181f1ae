import * as importing from '../../../src/crm/import/convert.ts';
import * as indexQuery from '../../../src/crm/search/index-query.ts';
import * as searchIndex from '../../../src/crm/search/search-index.ts';
import * as page from '../../../src/crm/site/page.ts';
import { limits } from '../../../src/kernel/limits.ts';
import * as parameters from '../../../src/mcp/definition/parameters.ts';
import * as dispatch from '../../../src/mcp/dispatch-tool.ts';
import * as handle from '../../../src/mcp/handle-request.ts';
import * as results from '../../../src/mcp/results/page.ts';
import * as schemaView from '../../../src/mcp/results/schema-view.ts';
import * as getAllUsers from '../../../src/mcp/tools/users/get-all-users.ts';
import * as body from '../../../src/mcp/transport/body.ts';
import * as messages from '../../../src/mcp/transport/messages.ts';
import * as metadata from '../../../src/oauth/clients/metadata.ts';
import * as oauth from '../../../src/oauth/oauth.ts';
import * as provider from '../../../src/oauth/provider.ts';
import * as itemLimits from '../../../src/oauth/storage/item-limits.ts';
import { bytes, characters, count, duration, type LimitGroup, shared } from './limit.ts';

const lifetime = (seconds: number) => duration(seconds * 1_000);

export const agentLimits: readonly LimitGroup[] = [
  {
    heading: '## Agents',
    limits: [
      {
        of: 'rows that a call returns (`limit`)',
        value: `${count(parameters.MAX_ROWS)}; each tool has its default`,
        beyond: 'code 107',
        see: 'tools.md#get-data',
      },
      {
        of: 'records that a call writes',
        value: count(parameters.MAX_RECORDS),
        beyond: 'code 107',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'answer of a call; of Get-Schema',
        value: `${count(results.MAX_RESULT_BYTES)} bytes; ${count(schemaView.MAX_SCHEMA_BYTES)} bytes`,
        beyond: 'lists end earlier, with `truncated`; else code 116',
        see: 'agents.md#answers',
      },
      {
        of: 'users of Get-all-Users',
        value: `the first ${getAllUsers.MAX_USERS}`,
        beyond: 'they are left out',
        see: 'tools.md#get-all-users',
      },
      {
        of: 'time of a call',
        value: duration(dispatch.CALL_TIMEOUT_MS),
        beyond: 'code 124; a writing tool may be in doubt',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'body; with a key, or of a user who may write',
        value: `${bytes(body.MAX_SHORT_BODY_BYTES)}; ${bytes(body.MAX_LONG_BODY_BYTES)}`,
        beyond: '413',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'values of a body',
        value: count(handle.MAX_VALUES),
        beyond: '413',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'long bodies that a process reads at the same time',
        value: shared(body.longBodies, count),
        beyond: 'they wait; 408 if slow meanwhile',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'messages of a batch; with a valid credential',
        value: `${messages.anonymousBatchLimits.messages}; ${messages.batchLimits.messages}`,
        beyond: '400',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'lists of tools in a batch; with a valid credential',
        value: `${messages.anonymousBatchLimits.listings}; ${messages.batchLimits.listings}`,
        beyond: '400',
        see: 'agents.md#limits-for-agents',
      },
      {
        of: 'records that a search reads without an index',
        value: `the newest ${count(searchIndex.MAX_SCANNED_RECORDS)} of a table`,
        beyond: 'older ones are found by the search index',
        see: 'agents.md#answers',
      },
      {
        of: 'words of a search that the index is asked for',
        value: count(indexQuery.MAX_WORDS),
        beyond: 'further words only filter',
        see: 'agents.md#answers',
      },
      {
        of: 'items of a list in a cell of Import-Records',
        value: count(importing.MAX_ITEMS),
        beyond: 'the text is not read as a list',
        see: 'tools.md#import-records',
      },
      {
        of: 'components of a page that are written; that are read',
        value: `${count(page.MAX_COMPONENTS)}; ${count(page.MAX_READ)}`,
        beyond: 'code 107',
        see: 'tools.md#set-site-page',
      },
      {
        of: 'file of an upload',
        value: bytes(limits.fileBytes),
        beyond: '413',
        see: 'agents.md#uploads-by-agents',
      },
    ],
  },
  {
    heading: '### Sign-in for agents',
    limits: [
      {
        of: 'lifetime of an access token; of a refresh token that is not used',
        value: `${lifetime(provider.lifetimes.accessToken)}; ${lifetime(provider.lifetimes.refreshToken)}`,
        beyond: '401',
        see: 'sign-in.md#tokens',
      },
      {
        of: 'lifetime of a code; of a waiting sign-in; of the sign-in of a browser',
        value: `${lifetime(provider.lifetimes.code)}; ${lifetime(provider.lifetimes.interaction)}; ${lifetime(provider.lifetimes.session)}`,
        beyond: 'the user begins again',
        see: 'sign-in.md#authorization',
      },
      {
        of: 'registrations, authorizations, reads of metadata documents a minute from one address',
        value: `${oauth.REGISTRATIONS_PER_MINUTE}, ${oauth.AUTHORIZATIONS_PER_MINUTE}, ${oauth.FETCHES_PER_MINUTE}`,
        beyond: '429',
        see: 'sign-in.md#clients',
      },
      {
        of: 'waiting sign-ins, and unused clients, of a system',
        value: `${count(itemLimits.MAX_ITEMS)} each`,
        beyond: 'the oldest of the address with most is deleted',
        see: 'sign-in.md#clients',
      },
      {
        of: 'redirect addresses of a client; each; together',
        value: `${metadata.MAX_REDIRECTS}; ${characters(metadata.MAX_REDIRECT_LENGTH)}; ${characters(metadata.MAX_REDIRECTS_LENGTH)}`,
        beyond: 'the registration is refused',
        see: 'sign-in.md#clients',
      },
      {
        of: 'metadata document of a client',
        value: bytes(provider.MAX_DOCUMENT_BYTES),
        beyond: 'the client is refused',
        see: 'sign-in.md#clients',
      },
      {
        of: 'address of an authorization request; its `state`',
        value: `${characters(provider.MAX_URL_LENGTH)}; ${characters(provider.MAX_STATE_LENGTH)}`,
        beyond: '`invalid_request`',
        see: 'sign-in.md#authorization',
      },
    ],
  },
];
