/** What must never show up in anything that a process prints (I10). */
export const SECRETS = {
  EVENTS_SECRET: 'events-secret-0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  EVENTS_SECRET_OVER: 'events-over-11112222333344445555666677778888',
  EVENTS_SECRET_NEXT: 'events-next-99990000aaaabbbbccccddddeeeeffff',
  EVENTS_SECRET_LATER: 'events-later-abcdefabcdefabcdefabcdefabcdef',
  ANA_TOKEN: 'ana-token-5c4b3a29180716f5e4d3c2b1a0998877',
} as const

/** Stands in every pushed body: content is never printed either. */
export const CONFIDENTIAL = 'confidential: the customer is moving house'
