import { isIP } from 'node:net';
import { z } from 'zod';
import { parseS3Url } from './files-url.ts';

/** A whole number without a sign. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);

/** A host name or an address. */
export const hostName = z.string().regex(/^[A-Za-z0-9.:_-]+$/);

export const urlOf = (...protocols: string[]) => z.string().refine((text) => protocols.includes(URL.parse(text)?.protocol ?? ''));

/** A host with an optional path. Slashes at the end are removed. */
export const baseUrl = urlOf('http:', 'https:').transform((text) => text.replace(/\/+$/, ''));

export const filesUrl = z.string().transform((text, context) => {
  const location = parseS3Url(text);
  if (location !== null) return Object.freeze(location);
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

const off = new Set(['false', 'off', 'no', '0']);
const on = new Set(['true', 'on', 'yes']);
const namedNetworks = new Set(['loopback', 'linklocal', 'uniquelocal']);

/** Which peers may set `X-Forwarded-*` headers: none, all, or proxies at these addresses and networks. */
export const trustProxy = z.string().transform((text, context): boolean | string[] => {
  if (off.has(text)) return false;
  if (on.has(text)) return true;
  const addresses = text.split(',').map((address) => address.trim());
  if (addresses.every(isNetwork)) return addresses;
  context.addIssue({ code: 'custom' });
  return z.NEVER;
});

function isNetwork(text: string): boolean {
  if (namedNetworks.has(text)) return true;
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const milliseconds = wholeNumber(1, 2_147_483_647);
