import { badArguments } from '../../../crm/refusals.ts';
import { readPage } from '../../../crm/site/page.ts';
import { replaceInPage } from '../../../crm/site/replace.ts';
import { PAGES, writeVersioned } from '../../../crm/site/versions.ts';
import { type JsonObject, type JsonValue, jsonBytes } from '../../../kernel/json.ts';
import { flag, object, siteId } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';

const MAX_REPLACEMENTS = 200;
const MAX_TERM_LENGTH = 200;
/** Limit of the search cost: characters of the terms times bytes of the page. */
const MAX_WORK = 1_000_000_000;
const MAX_PLACES = 100;
/** Maximum number of words and places reported as not replaced. */
const MAX_SKIPPED_SHOWN = 20;

/** The page's own texts for readers. */
const own = ['Name', 'Title', 'Description'];

/** Changes one page. Reference: tools.md#replace-terms. */
export const replaceTerms = defineTool({
  name: 'Replace-Terms',
  group: 'site',
  description: 'Replace display terms {from: to} inside one page: whole words of texts, never ids, types or addresses.',
  input: { pageId: siteId(), replacements: object(), dryRun: flag().default(false) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  about: PAGES,
  async run(call, { pageId, replacements, dryRun }) {
    const terms = readTerms(replacements);
    const { page, components } = await readPage(call, pageId, own);
    const texts = own.flatMap((name): [string, string][] => {
      const text = page.row[name];
      return typeof text === 'string' ? [[name, text]] : [];
    });
    const work = [...terms.keys()].join('').length * jsonBytes(components);
    if (work > MAX_WORK) badArguments('replacements are too many for a page of this size: send fewer at once');
    const { data, places, byTerm, left, leftPlaces } = replaceInPage(new Map(texts), components, terms);
    const replaced = sumOf(byTerm);
    const version = replaced > 0 ? await writeVersioned(call, page, data, dryRun) : page.version;
    return {
      pageId,
      ...(dryRun ? { dryRun } : { version }),
      replaced,
      terms: Object.fromEntries(byTerm),
      places: places.slice(0, MAX_PLACES),
      ...(left.size > 0 && { notReplaced: notReplaced(left, leftPlaces) }),
    };
  },
});

const sumOf = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);

function notReplaced(words: ReadonlyMap<string, number>, places: readonly string[]): JsonObject {
  const mostFrequent = [...words].sort(([, a], [, b]) => b - a).slice(0, MAX_SKIPPED_SHOWN);
  return {
    count: sumOf(words),
    words: Object.fromEntries(mostFrequent),
    places: places.slice(0, MAX_SKIPPED_SHOWN),
    hint: 'Words with prefixes stay. Send those that should change as terms of their own.',
  };
}

function readTerms(replacements: JsonObject): Map<string, string> {
  const entries = Object.entries(replacements);
  if (entries.length === 0 || entries.length > MAX_REPLACEMENTS)
    badArguments(`replacements must have 1 to ${MAX_REPLACEMENTS} entries`);
  const isTerm = (value: JsonValue) => typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TERM_LENGTH;
  for (const [from, to] of entries)
    if (!isTerm(from) || !isTerm(to)) badArguments(`replacements: terms are texts of 1 to ${MAX_TERM_LENGTH} characters`);
  return new Map((entries as [string, string][]).filter(([from, to]) => from !== to));
}
