import { z } from 'zod';
import { findRows, oneMore } from '../../../crm/queries/records.ts';
import { literal } from '../../../crm/search/text-match.ts';
import { during, rangeOf, rangeToJson } from '../../../crm/time/range.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { limit, localTime, skip, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { pageOf } from '../../results/page.ts';

const shown = ['method', 'path', 'statusCode', 'duration', 'user', 'usingMK', 'service', 'ip', 'country', 'userAgent', 'referer'];
const noise: ReadonlySet<string> = new Set(['objectId', 'updatedAt', 'ACL', 'user']);

/** Only for keys, which the authoriser enforces. Reference: tools.md#get-request-log, audit.md#request-log. */
export const getRequestLog = defineTool({
  name: 'Get-Request-Log',
  group: 'history',
  description: 'API write requests, newest first (master key or API key only).',
  input: {
    from: localTime().optional(),
    to: localTime().optional(),
    method: text(10).optional(),
    path: text(1_000).optional(),
    statusCode: z.int('must be a whole number').optional(),
    limit: limit(50),
    skip: skip(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'read',
  about: '_RequestLog',
  async run(call, { from, to, method, path, statusCode, limit: maxRows, skip: start }) {
    const range = await rangeOf(call, { from, to });
    const where: JsonObject = {
      ...during('createdAt', range),
      ...(method && { method: method.toUpperCase() }),
      ...(path && { path: { $regex: literal(path) } }),
      ...(statusCode !== undefined && { statusCode }),
    };
    const ask = { where, keys: shown, order: '-createdAt,-objectId', skip: start, limit: oneMore(maxRows) };
    const rows = await findRows(call, '_RequestLog', ask);
    return { ...pageOf(rows.map(plain), { skip: start, limit: maxRows }), ...rangeToJson(range) };
  },
});

/** Shortens a row; `user` becomes its id, which is `master` for keys. */
function plain(row: JsonObject): JsonObject {
  const { user } = row;
  const kept = Object.fromEntries(Object.entries(row).filter(([name]) => !noise.has(name)));
  return { ...kept, ...(user !== undefined && { user: (user as JsonObject).objectId ?? null }) };
}
