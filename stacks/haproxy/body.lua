-- GET /N answers with N bytes of zeros.
local block = string.rep("\0", 65536)

core.register_service("body", "http", function(applet)
    local left = tonumber(applet.path:match("^/(%d+)$"))
    if left == nil then
        applet:set_status(404)
        applet:start_response()
        return
    end
    applet:set_status(200)
    applet:add_header("content-length", string.format("%d", left))
    applet:start_response()
    while left > 0 do
        local piece = left < #block and block:sub(1, left) or block
        applet:send(piece)
        left = left - #piece
    end
end)
