import type { Tool } from '../../definition/tool.ts';
import { createPriceQuote } from './create-price-quote.ts';
import { getCampaignStats } from './get-campaign-stats.ts';
import { getMessages } from './get-messages.ts';
import { getSalesDocuments } from './get-sales-documents.ts';

export const documentsTools: readonly Tool[] = [getMessages, getCampaignStats, getSalesDocuments, createPriceQuote];
