import { newSiteId, type World } from '../world.ts';
import { changed, type Samples } from './sample.ts';

/** The home page of the template. */
const home = '65f1a0c3d2e4b5a697882001';

const newPage = (world: World) =>
  world.create('SitePages', {
    objectId: newSiteId(),
    Name: 'Page',
    Version: '1',
    Components: [{ _id: 'first', type: 'text', text: 'Sales of today' }],
  });

const newMenu = (world: World) => world.create('SiteMenus', { objectId: newSiteId(), Name: 'Menu', Version: '1', Items: [] });

export const site: Samples = {
  'Get-Site-Pages': { args: () => ({ menus: true }) },
  'Get-Site-Page': { args: () => ({ pageId: home }) },
  'Set-Site-Page': {
    args: async (world) => ({
      pageId: await newPage(world),
      version: '1',
      operations: [{ op: 'change', path: 'first', set: { text: 'Changed' } }],
    }),
    wrote: (_world, _answer, { pageId }) => [changed('SitePages', pageId)],
  },
  'Set-Menu': {
    args: async (world) => ({ menuId: await newMenu(world), version: '1', items: [{ label: 'Home', pageId: home }] }),
    wrote: (_world, _answer, { menuId }) => [changed('SiteMenus', menuId)],
  },
  'Replace-Terms': {
    args: async (world) => ({ pageId: await newPage(world), replacements: { Sales: 'Projects' } }),
    wrote: (_world, _answer, { pageId }) => [changed('SitePages', pageId)],
  },
};
