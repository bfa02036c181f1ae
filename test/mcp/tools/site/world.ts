/** Pages and menus for the tests of the site tools, and calls of these tools. */
import { randomBytes } from 'node:crypto';
import { type Store, useStore } from '../../../support/records.ts';
import type { EngineName } from '../../../support/service.ts';
import { byKey, type Tools } from '../callers.ts';
import { useRestored } from '../restored.ts';

/** The home page of the template. */
export const home = '65f1a0c3d2e4b5a697882001';
export const mainSite = '65f1a0c3d2e4b5a697881001';
export const mainMenu = '65f1a0c3d2e4b5a697883001';

export const newId = (): string => randomBytes(12).toString('hex');

export interface SiteWorld extends Store, Omit<Tools, 'call'> {
  tool: Tools['call'];
  /** Creates a page of version 1. */
  page(components: unknown, fields?: object): Promise<string>;
}

/** Restores sites, pages and menus after the surrounding `describe`. */
export function useSite(engine: EngineName): SiteWorld {
  const store = useStore(engine);
  useRestored(store, 'SitePages', 'SiteMenus', 'Sites');
  const { call: tool, ...tools } = byKey(store);
  return {
    ...store,
    ...tools,
    tool,
    page: (Components, fields = {}) =>
      store.create('SitePages', { objectId: newId(), Name: 'Page', Version: '1', Components, ...fields }),
  };
}
