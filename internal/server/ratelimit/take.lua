-- Counts a request in the log KEYS[1], or only reads it if ARGV[3] is 0: at most
-- ARGV[2] in any ARGV[1] microseconds. Returns whether it is allowed, how many more
-- would be, and the microseconds until one more is.
--
-- The log is a list of times, the oldest first. A sorted set would need a name
-- for each request, twice the memory, and a search where a list has an end.
local log, window, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])

-- Only the clock of Redis counts: those of the processes may differ.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local n = redis.call('LLEN', log)

-- When that clock was set back, what is ahead of it counts as of now.
for at = n - 1, 0, -1 do
  if tonumber(redis.call('LINDEX', log, at)) <= now then break end
  redis.call('LSET', log, at, string.format('%.0f', now))
end

while n > 0 and tonumber(redis.call('LINDEX', log, 0)) + window <= now do
  redis.call('LPOP', log)
  n = n - 1
end

local ok = n < limit
if ok and ARGV[3] == '1' then
  redis.call('RPUSH', log, string.format('%.0f', now))
  redis.call('PEXPIRE', log, math.ceil(window / 1000) + 1)
  n = n + 1
end

local reset = 0
if n > 0 then
  -- There are more than the limit when it was lowered meanwhile.
  reset = tonumber(redis.call('LINDEX', log, math.max(n - limit, 0))) + window - now
end
return {ok and 1 or 0, math.max(limit - n, 0), reset}
