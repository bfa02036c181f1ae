import { security } from '../components/security.ts';
import { answer, object, operation, type Paths, text } from './operation.ts';

const tag = 'Service';
const status = object({ status: text }, ['status']);
const unavailable = answer('It is not.', { ...status, additionalProperties: true });

const ready = (operationId: string) => ({
  get: operation([operationId, tag], 'Whether the service can answer requests', {
    security: security.none,
    responses: { '200': answer('It is.', status), '503': unavailable },
  }),
});

/** Reference: operations.md#health-checks, requests.md#addresses. */
export const servicePaths: Paths = {
  '/health': ready('health'),
  '/health/ready': ready('ready'),
  '/health/live': {
    get: operation(['live', tag], 'Whether the process lives', {
      security: security.none,
      responses: { '200': answer('It lives.', status) },
    }),
  },
  '/': {
    get: operation(['about', tag], 'Name and version of the service', {
      security: security.none,
      responses: {
        '200': answer('The service.', object({ name: text, version: text, console: text, docs: text })),
        '302': { description: 'A browser is sent to the console.' },
      },
    }),
  },
};
