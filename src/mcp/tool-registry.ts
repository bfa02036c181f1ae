import type { ListToolsResult } from '@modelcontextprotocol/server';
import { type Tool, type ToolGroup, toolGroups } from './definition/tool.ts';

/** The tools that a connection sees, ready to be listed and looked up. */
export interface ToolSet {
  readonly list: ListToolsResult;
  readonly byName: ReadonlyMap<string, Tool>;
}

/** All tools, and parts of them. Made once: the list is the same for everybody. */
export class ToolRegistry {
  readonly #tools: readonly Tool[];
  readonly #all: ToolSet;
  readonly #parts = new Map<string, ToolSet>();

  constructor(tools: readonly Tool[]) {
    this.#tools = tools;
    this.#all = selectionOf(tools);
  }

  /**
   * The tools of some groups.
   * @param toolsets names of groups with commas between; unknown ones are passed over, all tools where none is known
   */
  select(toolsets: string | undefined): ToolSet {
    if (toolsets === undefined) return this.#all;
    const names = new Set(toolsets.split(',', 100).map((name) => name.trim().toLowerCase()));
    const groups = toolGroups.filter((group) => names.has(group));
    if (groups.length === 0) return this.#all;
    const key = groups.join();
    let part = this.#parts.get(key);
    if (!part) {
      const wanted: ReadonlySet<ToolGroup> = new Set(groups);
      part = selectionOf(this.#tools.filter(({ group }) => wanted.has(group)));
      if (this.#parts.size < MAX_REMEMBERED_SETS) this.#parts.set(key, part);
    }
    return part;
  }
}

/** So many parts are remembered; a client may ask for as many as there are sets of groups. */
const MAX_REMEMBERED_SETS = 100;

function selectionOf(tools: readonly Tool[]): ToolSet {
  return {
    list: {
      tools: tools.map(({ name, description, inputSchema, hints }) => ({
        name,
        description,
        inputSchema: inputSchema as { type: 'object' },
        annotations: { ...hints },
      })),
    },
    byName: new Map(tools.map((tool) => [tool.name, tool])),
  };
}
