import type { JsonObject } from '../../../kernel/json.ts';
import { writeTogether } from '../../../records/index.ts';
import { object } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { DICTIONARY, dictionaryRows } from '../../kit/schema/dictionary.ts';
import { labelOf, MOST_LABEL } from '../../kit/schema/fields.ts';
import { MOST_TERMS, TERMS, termWrites } from '../../kit/schema/terms.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** SPEC "Agent-tool layer (MCP)": full replacement, not merge; an unsent term returns to identity. One commit. */
export const setTerminologyDictionary = defineTool({
  name: 'Set-Terminology-Dictionary',
  group: 'schema',
  description:
    'Replace the whole business-term dictionary {term: what it is called here}; any term not sent goes back to its default.',
  input: { terms: object() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: DICTIONARY,
  run(call, { terms: sent }) {
    const terms = readTerms(sent);
    return inTurn(call, DICTIONARY, async ({ context }) => {
      const writes = termWrites(await dictionaryRows(context.store, TERMS), terms);
      const written = await writeTogether(context, writes);
      return { terms: terms.size, changed: written.length };
    });
  },
});

/** Without those that stand for themselves. */
function readTerms(sent: JsonObject): Map<string, string> {
  const entries = Object.entries(sent);
  if (entries.length > MOST_TERMS) badArguments(`terms must have at most ${MOST_TERMS} entries`);
  const terms = new Map<string, string>();
  for (const [term, value] of entries) {
    if (term.trim() === '' || term.length > MOST_LABEL) badArguments(`terms: a term has 1 to ${MOST_LABEL} characters`);
    const name = labelOf(value, `terms.${term}`);
    if (name.trim() !== '' && name !== term) terms.set(term, name);
  }
  return terms;
}
