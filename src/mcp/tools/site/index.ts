import type { Tool } from '../../definition/tool.ts';
import { getSitePage } from './get-site-page.ts';
import { getSitePages } from './get-site-pages.ts';
import { replaceTerms } from './replace-terms.ts';
import { setMenu } from './set-menu.ts';
import { setSitePage } from './set-site-page.ts';

export const siteTools: readonly Tool[] = [getSitePages, getSitePage, setSitePage, setMenu, replaceTerms];
