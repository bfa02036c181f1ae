import { jsonBytes } from '../../kernel/json.ts';
import type { CrmContext } from '../context.ts';
import { badArguments } from '../refusals.ts';
import { type Components, componentsOf, sizeOf } from './components.ts';
import { PAGES, readVersioned, type Versioned } from './versions.ts';

export const MAX_COMPONENTS = 2_000;
/** Maximum number of components of a stored page; other clients may write larger pages than the tools do. */
export const MAX_READ = 20_000;
const MAX_LEVELS = 20;
const MAX_BYTES = 1_000_000;

/** A page with its own copy of the components. */
export interface ReadPage {
  readonly page: Versioned;
  readonly components: Components;
}

/** Reads a page. @param keys besides the components @throws what `readVersioned` throws; invalidArguments (107) for too many components */
export async function readPage(context: CrmContext, objectId: string, keys: readonly string[] = []): Promise<ReadPage> {
  const asked = { className: PAGES, objectId, keys: [...keys, 'Components'], types: { Components: ['Array'] } as const };
  const page = await readVersioned(context, asked);
  const components = componentsOf(page.row.Components);
  const { count } = sizeOf(components);
  if (count > MAX_READ) badArguments(`the page has ${count} components; ${MAX_READ} is the most that is looked at`);
  return { page, components };
}

/** Bounds the number of components while operations are applied. @throws invalidArguments (107) */
export function requireFew(components: Components): void {
  const { count } = sizeOf(components);
  if (count > MAX_READ) badArguments(`the page would have ${count} components; ${MAX_COMPONENTS} is the most`);
}

/** Checks the limits of a changed page. @throws invalidArguments (107) */
export function requireFit(components: Components): void {
  const { count, depth } = sizeOf(components);
  if (count > MAX_COMPONENTS) badArguments(`the page would have ${count} components; ${MAX_COMPONENTS} is the most`);
  if (depth > MAX_LEVELS) badArguments(`the page would be ${depth} levels deep; ${MAX_LEVELS} is the most`);
  if (jsonBytes(components) > MAX_BYTES) badArguments(`the page's components would take more than ${MAX_BYTES} bytes`);
}
