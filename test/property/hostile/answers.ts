import type { RawRequest } from './requests.ts';

interface Shown {
  readonly status: number;
  readonly text: string;
}

/** Parts that always differ between two services: ids, times, tokens, file names, challenges. */
const OWN: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g, 'TIME'],
  [/r:[0-9a-f]{32}/g, 'TOKEN'],
  [/[0-9a-f]{32}/g, 'HEX'],
  [/(objectId|leadId|accountId|Id|id|_id|triggerId)(\\?":\\?")[0-9A-Za-z]{10}(?=\\?")/g, '$1$2ID'],
  [/"policy":"[^"]*"/g, 'POLICY'],
  [/"client_id":"[^"]*"|"client_secret":"[^"]*"|"client_id_issued_at":\d+/g, 'CLIENT'],
];

const plain = (text: string): string => OWN.reduce((all, [found, name]) => all.replace(found, name), text);

/** PostgreSQL's limits of rows and index entries. Reference: postgresql.md#differences. */
const isTooLarge = ({ text }: Shown): boolean => text.includes('too large for its table or an index');

/** Returns how two answers to a request differ; `null` if they do not. */
export function sameForBoth(answers: readonly Shown[], { path }: RawRequest): string | null {
  const [sqlite, postgres] = answers;
  if (!sqlite || !postgres || answers.some(isTooLarge)) return null;
  // Pages carry a nonce and the address of the sign-in.
  const shown = ({ status, text }: Shown) => (path.startsWith('/oauth/') ? `${status}` : `${status} ${plain(text)}`);
  return shown(sqlite) === shown(postgres)
    ? null
    : `SQLite ${shown(sqlite).slice(0, 600)}\n  PostgreSQL ${shown(postgres).slice(0, 600)}`;
}
