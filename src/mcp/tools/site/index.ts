import type { Tool } from '../../definition/tool.ts';
import { getSitePages } from './get-site-pages.ts';
import { replaceTerms } from './replace-terms.ts';
import { setMenu } from './set-menu.ts';
import { getSitePage, setSitePage } from './site-page.ts';

export const siteTools: readonly Tool[] = [getSitePages, getSitePage, setSitePage, setMenu, replaceTerms];
